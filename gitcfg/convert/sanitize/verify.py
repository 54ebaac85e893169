"""The verification of a sanitized repository: its findings are those of the original."""

from collections import defaultdict
from collections.abc import Hashable, Iterable

from gitcfg.convert.sanitize.sanitizer import Sanitizer
from gitcfg.model import Finding


def compare_findings(
    original: Iterable[Finding], sanitized: Iterable[Finding], sanitizer: Sanitizer
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings of the original that the sanitized one lacks, and those that it has besides.

    Findings correspond if they have the same code and severity on the same lines, and their nodes and
    subjects correspond.
    """
    left: defaultdict[Hashable, list[Finding]] = defaultdict(list)
    for finding in sanitized:
        left[_key(finding, None)].append(finding)
    missing = []
    for finding in original:
        alike = left[_key(finding, sanitizer)]
        found = next((other for other in alike if _correspond(finding, other, sanitizer)), None)
        if found is None:
            missing.append(finding)
        else:
            alike.remove(found)
    return missing, [finding for alike in left.values() for finding in alike]


def _key(finding: Finding, sanitizer: Sanitizer | None) -> Hashable:
    nodes = finding.nodes if sanitizer is None else map(sanitizer.names.replace_name, finding.nodes)
    places = (
        (origin.file if sanitizer is None else sanitizer.path(origin.file), origin.line)
        for origin in finding.origins
    )
    return finding.code, finding.severity, tuple(sorted(nodes)), tuple(sorted(set(places)))


def _correspond(finding: Finding, other: Finding, sanitizer: Sanitizer) -> bool:
    """Return whether the subjects of a finding have become those of the other."""
    left = list(other.subjects)
    for subject in finding.subjects:
        became = next((name for name in left if name in sanitizer.subject(subject)), None)
        if became is None:
            return False
        left.remove(became)
    return not left
