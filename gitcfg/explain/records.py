"""What commands write as JSON: contracts with the scripts that read it (interfaces: JSON)."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gitcfg.compile.operations import NOTHING
from gitcfg.compile.trail import TrailStep
from gitcfg.explain.blamed import Blamer, with_blame
from gitcfg.explain.blamed import Record as Record
from gitcfg.model import Decision, Finding, Ignore, Ignored, Op, Origin
from gitcfg.model.nodeset import fold


def findings_record(commit: str | None, findings: Iterable[Finding], folded: bool = False) -> Record:
    """`gitcfg.findings/1`."""
    return {
        "schema": "gitcfg.findings/1",
        "commit": commit,
        "findings": [_finding(finding, folded) for finding in findings],
    }


def ignored_records(ignored: Iterable[Ignored], folded: bool = False) -> list[Record]:
    """Warnings that gitcfg.yaml leaves out, each with the reason."""
    return [_finding(one.finding, folded) | {"ignored": _reason(one.by)} for one in ignored]


def _reason(entry: Ignore) -> Record:
    return {"reason": entry.reason, "until": None if entry.until is None else str(entry.until)}


def _finding(finding: Finding, folded: bool) -> Record:
    record: Record = {
        "code": finding.code,
        "severity": str(finding.severity),
        "message": finding.message,
        "hint": finding.hint,
        "subjects": list(finding.subjects),
        **nodes_record(finding.nodes, folded),
        "origins": [origin_record(origin) for origin in finding.origins],
    }
    if finding.cause:
        record["cause"] = {"code": finding.cause[0], "subjects": list(finding.cause[1:])}
    return record


def nodes_record(nodes: Collection[str], folded: bool) -> Record:
    """Nodes, in order of name; folded, they are a node set and a number only."""
    record: Record = {"nodeset": fold(nodes), "count": len(nodes), "nodes": list(nodes)}
    if folded:
        del record["nodes"]
    return record


def origin_record(origin: Origin) -> Record:
    """A place."""
    return {"file": origin.file, "line": origin.line, "column": origin.column}


def trail_record(
    commit: str | None,
    node: str,
    trails: Mapping[str, tuple[Any, Iterable[TrailStep]]],
    blamer: Blamer | None = None,
) -> Record:
    """`gitcfg.trail/1`: per parameter its value and the steps that led to it; who made them, if asked."""
    params = {
        name: {
            "value": value,
            "steps": [step_record(step, blamer) for step in steps],
        }
        for name, (value, steps) in trails.items()
    }
    return {"schema": "gitcfg.trail/1", "commit": commit, "node": node, "params": params}


def step_record(step: TrailStep, blamer: Blamer | None) -> Record:
    """One step of a trail."""
    record = {
        "op": str(step.op.value),
        "given": None if step.given is NOTHING or step.op is Op.NULL else step.given,
        "result": step.result,
        "origin": origin_record(step.origin),
        "path": list(step.path),
        "overridden": step.overridden,
    }
    record |= sources_record(step, blamer)
    return with_blame(record, blamer, step.path[0], step.origin)


def sources_record(step: TrailStep, blamer: Blamer | None = None) -> Record:
    """What a step is made of beside what its layer says: the nodes that it collects from, and decisions."""
    record: Record = {}
    if step.op is Op.COLLECT:
        record["collected"] = nodes_record(step.nodes, folded=True)
    if step.decided:
        record["decided"] = [decision_record(decision, blamer) for decision in step.decided]
    return record


def decision_record(decision: Decision, blamer: Blamer | None = None) -> Record:
    """What was decided for a rule: what that leaves open and where, and where its allocation says it."""
    record = {
        "rule": decision.rule,
        "name": decision.name,
        "asked": origin_record(decision.asked),
        "origin": origin_record(decision.origin),
    }
    return with_blame(record, blamer, f"allocation {decision.rule}", decision.origin)
