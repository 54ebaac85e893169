"""A deploy for programs: `gitcfg.deploy/1`, and a line for each node as it ends."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.deploy.outcomes import Result, tallied
from gitcfg.deploy.turns import Why

SCHEMA = "gitcfg.deploy/1"
LINE = "gitcfg.deployed/1"


class About(msgspec.Struct, frozen=True):
    """What a deploy is: its run's id (none where nothing is recorded), its commit, when it began."""

    run: str | None
    commit: str
    reason: str
    dry: bool
    begun: float


class Ending(msgspec.Struct, frozen=True):
    """How it ended, and after how many seconds."""

    why: Why
    because: str
    seconds: float


def line(about: About, result: Result) -> dict[str, Any]:
    """A node's own record."""
    return {"schema": LINE, "run": about.run, "target": about.commit, "dry": about.dry, **_node(result)}


def record(about: About, ending: Ending, results: Mapping[str, Result]) -> dict[str, Any]:
    """The whole."""
    counts = {outcome.value: len(some) for outcome, some in tallied(results.values()).items()}
    return {
        "schema": SCHEMA,
        "run": about.run,
        "target": about.commit,
        "reason": about.reason,
        "dry": about.dry,
        "begun": about.begun,
        "seconds": round(ending.seconds, 3),
        "ended": ending.why.value,
        "because": ending.because,
        "counts": counts,
        "nodes": [_node(results[name]) for name in sorted(results)],
    }


def _node(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(result)
    return found
