"""Definitions by kind and name; the terms of holds and overrides; the nodes and recipients of secrets."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.selection import Selection, Stopped
from gitcfg.explain.definition import Definition, Kind
from gitcfg.explain.kinds.files import FILE, SECRET, TEMPLATE
from gitcfg.explain.kinds.layers import (
    FEATURE,
    GROUP,
    HOLD,
    NODE,
    NODESET,
    OVERRIDE,
    SETTING,
    held,
    overridden,
)
from gitcfg.explain.kinds.parameters import PARAMETER, SUBSYSTEM
from gitcfg.explain.kinds.rules import ALLOCATION, RULE
from gitcfg.explain.trail import Record, nodes_record, origin_record
from gitcfg.model import GitcfgError, Hold, Origin, Override, Ref, Secret
from gitcfg.model.age import recipient
from gitcfg.model.names import did_you_mean, find_host, shown
from gitcfg.render.templates import TemplateEngine

_ALL = (
    *(NODE, GROUP, FEATURE, PARAMETER, SUBSYSTEM, NODESET, OVERRIDE, HOLD, SECRET, RULE, ALLOCATION),
    *(TEMPLATE, FILE, SETTING),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}


def find_kind(word: str) -> Kind:
    """Return the kind that a word means: its name, its plural, or an unambiguous prefix.

    Raise GitcfgError if there is none.
    """
    plain = word.lower().replace(" ", "").replace("-", "").replace("_", "")
    one = plain.removesuffix("s") or plain
    exact = KINDS.get(one)
    begun = [kind for name, kind in KINDS.items() if one and name.startswith(one)]
    if exact is None and len(begun) != 1:
        names = ", ".join([kind.name for kind in begun] or KINDS)
        wrong = f"{shown(word)} matches several kinds" if begun else f"There is no kind {shown(word)}"
        raise GitcfgError(f"{wrong}.", f"Use one of: {names}.")
    return exact or begun[0]


def define(fleet: Fleet, engine: TemplateEngine, kind: Kind, name: str) -> Definition:
    """Return all fields of one definition. Raise GitcfgError if it does not exist."""
    known = kind.names(fleet)
    if kind.name == "node":
        name = find_host(name, known) or name
    if name not in known and not kind.also(fleet, name):
        near = did_you_mean(name, filter(str.isprintable, known))
        raise GitcfgError(f"There is no {kind.name} {shown(name)}.", near)
    return kind.definition(fleet, engine, name)


# The holds and overrides: their nodes, the days left, and their effects.


class TermSummary(msgspec.Struct, frozen=True):
    """A hold or an override. `days` are those left after today: 0 on the last one, less when it is over.

    Both `until` and `days` are None if its end cannot be read. `does` is its content, for records.
    """

    name: str
    nodes: tuple[str, ...]
    where: str | None
    until: str | None
    days: int | None
    reason: str
    origin: Origin
    does: dict[str, Any]


def list_holds(fleet: Fleet, subject: Callable[[str], str | None]) -> Iterator[TermSummary]:
    """Yield every hold, in order of name.

    `subject` returns the subject of a commit, None if it is not there.
    """
    for name in sorted(fleet.model.holds):
        found = fleet.model.holds[name]
        commit = found.commit.name
        does = {"commit": commit, "subject": subject(commit)}
        yield _make_term(fleet, found, held(fleet, found), does)


def list_overrides(fleet: Fleet) -> Iterator[TermSummary]:
    """Yield every override, in order of name."""
    for name in sorted(fleet.model.overrides):
        found = fleet.model.overrides[name]
        does = {
            "params": sorted(found.params),
            "features": [use.feature for use in found.features],
            "without": [ref.name for ref in found.without],
            "files": sorted(found.files),
        }
        yield _make_term(fleet, found, overridden(fleet, found), does)


def terms_record(schema: str, many: str, found: Iterable[TermSummary]) -> Record:
    """Return `gitcfg.holds/1` or `gitcfg.overrides/1`."""
    return {"schema": schema, many: [_term_record(one) for one in found]}


def _make_term(
    fleet: Fleet, found: Hold | Override, nodes: tuple[str, ...], does: dict[str, Any]
) -> TermSummary:
    until = None if _has_unreadable_end(fleet, found) else found.until
    return TermSummary(
        found.name,
        nodes,
        found.where.name if found.where is not None else None,
        str(until) if until is not None else None,
        (until - fleet.today).days if until is not None else None,
        found.reason,
        found.origin,
        does,
    )


def _has_unreadable_end(fleet: Fleet, found: Hold | Override) -> bool:
    """Return whether the end could not be read.

    Such an end is set to the last possible date, which is also valid in a definition.
    """
    if found.until != date.max:
        return False
    at = found.until_at
    return at is None or any(at in finding.origins for finding in fleet.model.findings)


def _term_record(one: TermSummary) -> Record:
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


# The secrets: which nodes get one, which may have it, and whose keys decrypt it.


class Reach(msgspec.Struct, frozen=True):
    """A secret, the parameters whose value it is, and the nodes that get it, in order of name.

    `may` are the nodes for which its `for` is true; `problem` is the reason if that is unknown for some.
    """

    secret: Secret
    params: tuple[str, ...]
    nodes: tuple[str, ...]
    may: tuple[str, ...] = ()
    problem: str = ""


def find_reaches(fleet: Fleet, names: Collection[str] | None = None) -> Iterator[Reach]:
    """Yield all secrets, or some, in order of name, without the nodes that may have them."""
    params: dict[str, set[str]] = {}
    nodes: dict[str, list[str]] = {}
    for kind in fleet.classes if fleet.model.secrets else ():
        for param, name in kind.secrets.items():
            params.setdefault(name, set()).add(param)
        for name in set(kind.secrets.values()):
            nodes.setdefault(name, []).extend(kind.names)
    for name in sorted(fleet.model.secrets if names is None else names):
        found = fleet.model.secrets[name]
        yield Reach(found, tuple(sorted(params.get(name, ()))), tuple(sorted(nodes.get(name, ()))))


def add_allowed(fleet: Fleet, found: Iterable[Reach]) -> Iterator[Reach]:
    """Yield the same with the nodes that may have them. Equal conditions are evaluated once."""
    select = lru_cache(maxsize=None)(fleet.select)
    for one in found:
        where = one.secret.where
        try:
            selection = select(where.name) if where is not None else Selection()
        except Stopped as stopped:
            yield msgspec.structs.replace(one, problem=stopped.problem.message)
            continue
        problem = selection.problem or next(iter(selection.failed.values()), None)
        yield msgspec.structs.replace(
            one, may=tuple(sorted(selection.names)), problem=problem.message if problem is not None else ""
        )


def secrets_record(commit: str | None, found: Iterable[Reach], folded: bool) -> Record:
    """Return `gitcfg.secrets/1`."""
    return {
        "schema": "gitcfg.secrets/1",
        "commit": commit,
        "secrets": [_secret(one, folded) for one in found],
    }


def _secret(one: Reach, folded: bool) -> Record:
    secret = one.secret
    return {
        "name": secret.name,
        "description": secret.description,
        "version": secret.version,
        "for": secret.where.name if secret.where is not None else None,
        "recipients": [_recipient(ref) for ref in secret.recipients],
        "sealed": secret.sealed.file if secret.sealed is not None else None,
        "params": list(one.params),
        **nodes_record(one.nodes, folded),
        "may": nodes_record(one.may, folded),
        "problem": one.problem,
        "origin": origin_record(secret.origin),
    }


def _recipient(ref: Ref) -> Record:
    """Return a recipient's record; hide anything but a public key, because it may be a private one."""
    try:
        found = recipient(ref.name)
    except ValueError:
        return {"kind": None, "key": "", "comment": ""}
    return {"kind": found.kind, "key": found.key, "comment": found.comment}
