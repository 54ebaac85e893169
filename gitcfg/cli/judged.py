"""What an edit would make wrong is told; what was wrong before does not count."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.session import Session
from gitcfg.model import Finding

if TYPE_CHECKING:
    from gitcfg.git.tree import Tree
    from gitcfg.library import Source

Renamed = tuple[str, str]
"""A name, and the one in its place from now on."""


def find_added(
    session: Session, source: "Source", before: "Tree", after: "Tree", renamed: Iterable[Renamed]
) -> tuple[Finding, ...]:
    """Tell what is wrong after an edit and was not before.

    Where nothing is wrong afterwards nobody asks what was before.
    """
    from gitcfg.check.results import unlike
    from gitcfg.library import Fleet

    renamed = tuple(renamed)
    base = source.repository.before(before)
    with Fleet(after, base, source.today, source.cache) as new:
        every, veils = new.findings, new.checked.every
    if not every:
        return ()
    with Fleet(before, base, source.today, source.cache) as old:
        known = tuple(_called(finding, renamed) for finding in old.findings)
    # GC507: who edits has just said the end.
    found = tuple(finding for finding in unlike(every, known) if finding.code != "GC507")
    if found:
        from gitcfg.cli.findings import print_findings

        print_findings(session.console(stderr=True), after, found, veils)
    return found


def _called(finding: Finding, renamed: Iterable[Renamed]) -> Finding:
    """A finding from before, in the words in which it would be told now."""
    for old, new in renamed:
        if old in finding.subjects:
            subjects = tuple(new if subject == old else subject for subject in finding.subjects)
            message = finding.message.replace(old, new)
            finding = msgspec.structs.replace(finding, subjects=subjects, message=message)
    return finding
