"""Deploys as programs read them: each with what it has come to, and one of them by node."""

from typing import Any

import msgspec

from gitcfg.deploy.record_lines import Kept
from gitcfg.deploy.record_told import outcome, outcomes

_DONE = ("step", "output", "seconds", "changed", "commit", "digest", "agent", "at")


def run_record(kept: Kept) -> dict[str, Any]:
    """A deploy of `gitcfg.deploys/1`. Times are seconds since the epoch."""
    run, told = kept.run, kept.told
    return {
        "run": run.id,
        "target": run.commit,
        "who": run.who,
        "reason": run.reason,
        "begun": run.begun,
        "lasted": max(0.0, kept.end.at - run.begun) if kept.end is not None else None,
        "ended": kept.ended,
        "because": kept.end.because if kept.end is not None else "",
        "resumes": run.resumes or None,
        "counts": dict(outcomes(kept)),
        "told": {"place": told.place, "at": told.at} if told is not None else None,
        "broken": kept.broken,
    }


def nodes_record(kept: Kept) -> dict[str, Any]:
    """`gitcfg.deployment/1`: the nodes in the order of their turns."""
    nodes = [_node(kept, name) for name in kept.run.nodes]
    return {"schema": "gitcfg.deployment/1", **run_record(kept), "nodes": nodes}


def _node(kept: Kept, name: str) -> dict[str, Any]:
    """What is not known of a node is null."""
    done = kept.done.get(name)
    said = msgspec.to_builtins(done) if done is not None else {}
    return {"node": name, "outcome": outcome(kept, name), **{each: said.get(each) for each in _DONE}}
