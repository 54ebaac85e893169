"""Holds and overrides as they stand: for whom, how long still, and what they do there."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.kinds.hold import held
from gitcfg.explain.kinds.override import overridden
from gitcfg.explain.records import Record, nodes_record, origin_record
from gitcfg.model import Hold, Origin, Override


class Standing(msgspec.Struct, frozen=True):
    """A hold or an override. `days` are those left after today: 0 on the last one, less when it is over.

    Both are None where its end cannot be read. `does` is what it does there, as programs read it.
    """

    name: str
    nodes: tuple[str, ...]
    where: str | None
    until: str | None
    days: int | None
    reason: str
    origin: Origin
    does: dict[str, Any]


def holds(fleet: Fleet, subject: Callable[[str], str | None]) -> Iterator[Standing]:
    """Every hold, in order of name. `subject` is what a commit's message begins with, if it is there."""
    for name in sorted(fleet.model.holds):
        found = fleet.model.holds[name]
        commit = found.commit.name
        does = {"commit": commit, "subject": subject(commit)}
        yield _standing(fleet, found, held(fleet, found), does)


def overrides(fleet: Fleet) -> Iterator[Standing]:
    """Every override, in order of name."""
    for name in sorted(fleet.model.overrides):
        found = fleet.model.overrides[name]
        does = {
            "params": sorted(found.params),
            "features": [use.feature for use in found.features],
            "without": [ref.name for ref in found.without],
            "files": sorted(found.files),
        }
        yield _standing(fleet, found, overridden(fleet, found), does)


def standing_record(schema: str, many: str, found: Iterable[Standing]) -> Record:
    """`gitcfg.holds/1` and `gitcfg.overrides/1`."""
    return {"schema": schema, many: [_record(one) for one in found]}


def _standing(fleet: Fleet, found: Hold | Override, nodes: tuple[str, ...], does: dict[str, Any]) -> Standing:
    until = None if _unread(fleet, found) else found.until
    return Standing(
        found.name,
        nodes,
        found.where.name if found.where is not None else None,
        str(until) if until is not None else None,
        (until - fleet.today).days if until is not None else None,
        found.reason,
        found.origin,
        does,
    )


def _unread(fleet: Fleet, found: Hold | Override) -> bool:
    """What has no end that can be read was given the last of all days; some may mean just that one."""
    if found.until != date.max:
        return False
    at = found.until_at
    return at is None or any(at in finding.origins for finding in fleet.model.findings)


def _record(one: Standing) -> Record:
    return {
        "name": one.name,
        **nodes_record(one.nodes, folded=False),
        "where": one.where,
        "until": one.until,
        "days": one.days,
        "reason": one.reason,
        **one.does,
        "origin": origin_record(one.origin),
    }
