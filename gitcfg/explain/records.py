"""What commands write as JSON: contracts with the scripts that read it (interfaces: JSON)."""

from collections.abc import Iterable, Mapping
from typing import Any

from gitcfg.compile.operations import NOTHING
from gitcfg.compile.trail import TrailStep
from gitcfg.model import Finding, Op, Origin
from gitcfg.nodeset import fold

Record = dict[str, Any]


def findings_record(commit: str | None, findings: Iterable[Finding], folded: bool = False) -> Record:
    """`gitcfg.findings/1`."""
    return {
        "schema": "gitcfg.findings/1",
        "commit": commit,
        "findings": [_finding(finding, folded) for finding in findings],
    }


def _finding(finding: Finding, folded: bool) -> Record:
    record: Record = {
        "code": finding.code,
        "severity": str(finding.severity),
        "message": finding.message,
        "hint": finding.hint,
        "subjects": list(finding.subjects),
        "nodeset": fold(finding.nodes),
        "count": len(finding.nodes),
        "nodes": list(finding.nodes),
        "origins": [origin_record(origin) for origin in finding.origins],
    }
    if folded:
        del record["nodes"]
    return record


def origin_record(origin: Origin) -> Record:
    """A place."""
    return {"file": origin.file, "line": origin.line, "column": origin.column}


def trail_record(
    commit: str | None, node: str, trails: Mapping[str, tuple[Any, Iterable[TrailStep]]]
) -> Record:
    """`gitcfg.trail/1`: per parameter its value and the steps that led to it."""
    params = {
        name: {"value": value, "steps": [step_record(step) for step in steps]}
        for name, (value, steps) in trails.items()
    }
    return {"schema": "gitcfg.trail/1", "commit": commit, "node": node, "params": params}


def step_record(step: TrailStep) -> Record:
    """One step of a trail."""
    return {
        "op": str(step.op.value),
        "given": None if step.given is NOTHING or step.op is Op.NULL else step.given,
        "result": step.result,
        "origin": origin_record(step.origin),
        "path": list(step.path),
        "overridden": step.overridden,
    }
