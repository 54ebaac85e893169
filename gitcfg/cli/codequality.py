"""Findings as GitLab's Code Quality report, which a merge request shows on the lines they are about."""

from collections.abc import Iterable
from typing import Any

from gitcfg.cli.forge import Entry, line_of, report_entries, whole
from gitcfg.model import Finding, Severity

_SEVERITY = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def quality_record(findings: Iterable[Finding], prefix: str) -> list[dict[str, Any]]:
    """An entry for each finding, errors first."""
    return [_entry(found) for found in report_entries(findings, prefix)]


def _entry(found: Entry) -> dict[str, Any]:
    return {
        "description": _description(found),
        "check_name": found.finding.code,
        "fingerprint": found.fingerprint,
        "severity": _SEVERITY[found.finding.severity],
        "location": {"path": whole(found.place.file), "lines": {"begin": found.place.line}},
    }


def _description(found: Entry) -> str:
    """One line: GitLab shows no more."""
    finding = found.finding
    hint = f"Hint: {line_of(finding.hint)}" if finding.hint else ""
    nodes = f"({found.on()})" if finding.nodes else ""
    return " ".join(filter(None, (line_of(finding.message), nodes, hint)))
