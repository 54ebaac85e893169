"""Releases as JSON: how far they have got, and the outcomes of nodes."""

from collections.abc import Container, Mapping
from typing import Any

import msgspec

from gitcfg.model.nodeset import fold
from gitcfg.rollout import Outcome, Seen, Status, tally
from gitcfg.rollout.outcomes import Look, outcome
from gitcfg.server.outline import OutlineNode
from gitcfg.server.roll import NodeRegistry
from gitcfg.state import StoredRelease

ACTIVE = (Status.RUNNING, Status.HALTED)
"""Where a release is not over."""
_BAD = (Outcome.FAILED, Outcome.MISSING)


def release_record(release: StoredRelease, seen: Look, now: float) -> dict[str, Any]:
    """Return a release as JSON; `counts` are of those nodes that were offered it.

    Once it is over, what they run today says nothing about it: then there are none.
    """
    progress, plan = release.progress, release.plan
    offered = plan.offered(progress.stage)
    going = progress.status in ACTIVE
    found = tally(progress, offered, seen, now) if going else None
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


def release_record_with_nodes(release: StoredRelease, seen: Look, now: float) -> dict[str, Any]:
    """Return a release of `gitcfg.releases/1`: also the nodes that failed, and those of the present stage."""
    progress, plan = release.progress, release.plan
    going = progress.status in ACTIVE
    offered = plan.offered(progress.stage) if going else ()
    failed = [name for name in offered if outcome(progress, seen(name), now) in _BAD]
    return {
        **release_record(release, seen, now),
        "failed": fold(failed),
        "present": fold(plan.joining(progress.stage) if going else ()),
    }


def observe_nodes(
    registry: NodeRegistry, commit: str, lines: Mapping[str, OutlineNode], held: Container[str]
) -> Look:
    """Return how a release observes nodes. Held ones are away: they do not get it."""

    def seen(name: str) -> Seen | None:
        line = lines.get(name)
        return (
            None
            if name in held
            else registry.observe(name, commit, line.digest if line is not None else None)
        )

    return seen
