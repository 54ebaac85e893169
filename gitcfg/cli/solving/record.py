"""What is decided, as programs read it."""

from typing import Any

from gitcfg.cli.solving.decision import Decision
from gitcfg.explain.trail import origin_record
from gitcfg.model.nodeset import fold
from gitcfg.solve.fleet import Cause, Change

Record = dict[str, Any]


def decision_to_json(decision: Decision) -> Record:
    """`gitcfg.solve/1`."""
    return {
        "schema": "gitcfg.solve/1",
        "solved": decision.holds,
        "causes": [_cause_to_json(one) for one in decision.causes],
        "problem": decision.problem or None,
        "nodeset": fold(decision.nodes),
        "nodes": list(decision.nodes),
        "suggestion": _cause_to_json(decision.suggestion) if decision.suggestion is not None else None,
        "aside": list(decision.aside),
        "changes": [_change_to_json(one) for one in decision.changes],
    }


def _cause_to_json(cause: Cause) -> Record:
    return {
        "text": cause.text,
        "rule": cause.rule,
        "origins": [origin_record(origin) for origin in cause.origins],
    }


def _change_to_json(change: Change) -> Record:
    node, _, instance = change.slot.partition("/")
    return {
        "rule": change.rule,
        "change": change.deed.value,
        "slot": change.slot,
        "node": node,
        "instance": instance or None,
        "feature": None if change.param else change.what,
        "param": change.what if change.param else None,
        "old": change.old,
        "new": change.new,
    }
