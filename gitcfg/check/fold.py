"""One finding for one fact: the same thing said of many places and nodes is said once."""

from collections.abc import Iterable

import msgspec

from gitcfg.check.codes import CODES
from gitcfg.model import Finding, Origin, Severity


def folded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings with the same code, subjects and words as one, with all their origins and nodes."""
    groups: dict[tuple[str, tuple[str, ...], str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.subjects, finding.message), []).append(finding)
    return tuple(sorted(map(_one, groups.values()), key=_order))


def _one(group: list[Finding]) -> Finding:
    # In an order that does not depend on who found what first; the gravest speaks for all.
    group = sorted(group, key=lambda finding: (min(finding.nodes, default=""), finding.origins, finding.hint))
    first = min(group, key=lambda finding: not finding.is_error)
    origins: dict[Origin, None] = {origin: None for finding in group for origin in finding.origins}
    nodes = sorted({node for finding in group for node in finding.nodes})
    return msgspec.structs.replace(first, origins=tuple(origins), nodes=tuple(nodes))


def _order(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.subjects, finding.origins, finding.message, finding.nodes


def of(
    code: str,
    subjects: str | tuple[str, ...],
    message: str,
    origins: Iterable[Origin],
    nodes: Iterable[str] = (),
    hint: str = "",
    grave: Severity | None = None,
    veiled: bool = False,
) -> Finding:
    """A finding with its code's severity, unless it is told another."""
    named = (subjects,) if isinstance(subjects, str) else subjects
    return Finding(
        code,
        named,
        message,
        tuple(origins),
        tuple(nodes),
        grave or CODES[code].severity,
        sentence(hint),
        veiled,
    )


def sentence(text: str) -> str:
    """A hint as a sentence of its own: libraries' hints begin in lower case."""
    return text[:1].upper() + text[1:]
