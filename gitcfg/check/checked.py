"""What a check gave, in a form that can be kept, and the question that it answers."""

from datetime import date

import msgspec

from gitcfg.check.ignore import without_ignored
from gitcfg.git.tree import Tree, changed_paths, fingerprint
from gitcfg.model import Finding, Ignore, Ignored, Model
from gitcfg.model.folders import FOLDERS, SETTINGS, SIGNERS

FILES = (SETTINGS, SIGNERS)
PLACES = (*FILES, *FOLDERS)
"""Everything in a repository that gitcfg reads."""
WHO = (SETTINGS, "nodes", "nodesets")
"""What says who the nodes are, and what they say."""


class Checked(msgspec.Struct, frozen=True):
    """The findings about a fleet, and how large it is. `ignored` are those that gitcfg.yaml leaves out.

    `ignore` are its entries, as long as nothing has been left out. `unjudged`: there are files that nobody
    judged, for their target's own parser is not installed.
    """

    findings: tuple[Finding, ...]
    nodes: int
    groups: int
    features: int
    parameters: int
    unjudged: bool = False
    ignore: tuple[Ignore, ...] = ()
    ignored: tuple[Ignored, ...] = ()

    @property
    def every(self) -> tuple[Finding, ...]:
        """What was found, with what is ignored: lines that may hold secrets are veiled by both."""
        return (*self.findings, *(one.finding for one in self.ignored))

    @property
    def grave(self) -> bool:
        """Is an error among the findings?"""
        return any(finding.is_error for finding in self.findings)


def checked(model: Model, nodes: int, findings: tuple[Finding, ...], unjudged: bool = False) -> Checked:
    """Findings with the size of what was looked at."""
    sizes = (nodes, len(model.groups), len(model.features), len(model.parameters))
    return Checked(findings, *sizes, unjudged, model.settings.ignore)


def as_told(found: Checked, today: date, parsed: bool) -> Checked:
    """What counts on a day; `parsed`: targets' own parsers were asked."""
    if not found.ignore:
        return found
    kept, ignored = without_ignored(found.findings, found.ignore, today, parsed)
    return msgspec.structs.replace(found, findings=kept, ignore=(), ignored=ignored)


def same_nodes(tree: Tree, before: Tree) -> bool:
    """Does a tree say the same of nodes as the one before it, so that none can be gone?"""
    return not changed_paths(before, tree, WHO)


def question(tree: Tree, before: Tree | None, today: date, judged_by: str) -> str:
    """All that a check's answer depends on: what stands in the tree, who was there before, who judges.

    `before` is None where no node can be gone. Time matters only where something has an end.
    """
    ends = any(True for folder in ("overrides", "holds") for _ in tree.entries(folder))
    until = today.isoformat() if ends else ""
    who = fingerprint(before, WHO) if before is not None else ""
    return f"check 6 {fingerprint(tree, PLACES)} {who} {until} {judged_by}"
