"""A release as it is told: how far it has got, and what nodes have made of it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.nodeset import fold
from gitcfg.rollout import Outcome, Seen, Status, tally
from gitcfg.rollout.outcomes import Look, Tally, outcome
from gitcfg.server.outline import Line
from gitcfg.server.roll import Roll
from gitcfg.state import StoredRelease

GOING = (Status.RUNNING, Status.HALTED)
"""Where a release is not over."""
_BAD = (Outcome.FAILED, Outcome.MISSING)


def release_record(
    release: StoredRelease, lines: Mapping[str, Line], roll: Roll, now: float
) -> dict[str, Any]:
    """A release; `counts` are of those nodes that were offered it.

    Once it is over, what they run today says nothing about it: then all of them are 0.
    """
    progress, plan = release.progress, release.plan
    offered = plan.offered(progress.stage)
    going = progress.status in GOING
    found = tally(progress, offered, _look(release, lines, roll), now) if going else Tally()
    return {
        "commit": release.commit,
        "base": release.base,
        "created": release.created,
        "status": progress.status.value,
        "back": release.back,
        "stage": progress.stage + 1,
        "stages": list(plan.sizes),
        "nodes": len(plan.order),
        "offered": len(offered),
        "settle": plan.settle,
        "max_failures": plan.max_failures,
        "since": progress.since,
        "well": progress.well,
        "why": progress.why,
        "counts": msgspec.to_builtins(found),
    }


def named_record(release: StoredRelease, lines: Mapping[str, Line], roll: Roll, now: float) -> dict[str, Any]:
    """A release of `gitcfg.releases/1`: also which nodes failed, and which are in the present stage."""
    progress, plan, look = release.progress, release.plan, _look(release, lines, roll)
    going = progress.status in GOING
    offered = plan.offered(progress.stage) if going else ()
    failed = [name for name in offered if outcome(progress, look(name), now) in _BAD]
    return {
        **release_record(release, lines, roll, now),
        "failed": fold(failed),
        "present": fold(plan.joining(progress.stage) if going else ()),
    }


def _look(release: StoredRelease, lines: Mapping[str, Line], roll: Roll) -> Look:
    def seen(name: str) -> Seen | None:
        line = lines.get(name)
        return roll.seen(name, release.commit, line.digest if line is not None else None)

    return seen
