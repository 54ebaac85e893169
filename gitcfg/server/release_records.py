"""A release as it is told: how far it has got, and what nodes have made of it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.rollout import Seen, tally
from gitcfg.server.outline import Line
from gitcfg.server.roll import Roll
from gitcfg.state import StoredRelease


def release_record(
    release: StoredRelease, lines: Mapping[str, Line], roll: Roll, now: float
) -> dict[str, Any]:
    """A release of `gitcfg.releases/1`; `counts` are of those nodes that were offered it."""

    def seen(name: str) -> Seen | None:
        line = lines.get(name)
        return roll.seen(name, release.commit, line.digest if line is not None else None)

    progress, plan = release.progress, release.plan
    offered = plan.offered(progress.stage)
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
        "counts": msgspec.to_builtins(tally(progress, offered, seen, now)),
    }
