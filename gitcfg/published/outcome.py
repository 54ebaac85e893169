"""What is asked of a rendered ref, and what came of it."""

from collections.abc import Sequence

import msgspec

from gitcfg.compile.impact import Version, find_nodes_made_from
from gitcfg.model import Finding
from gitcfg.output.plan import Scope

_UNREAD = "GC1"  # codes of what is wrong with a file: what it would have said is not known


class PublishRequest(msgspec.Struct, frozen=True):
    """The nodes that are to be rendered, and the errors that concern them."""

    names: Sequence[str]
    scope: Scope
    errors: Sequence[Finding] = ()

    @property
    def whole(self) -> bool:
        """Are these all nodes, so that others are gone?"""
        return self.scope is Scope.ALL

    def faulty_nodes(self, version: Version) -> frozenset[str] | None:
        """The nodes that have errors, or are made from a file that has: they stay as they are.

        None: nobody knows which ones these are, for something could not even be read.
        """
        named = frozenset(name for finding in self.errors for name in finding.nodes)
        others = [finding for finding in self.errors if not finding.nodes]
        if not others:
            return named
        if any(finding.code.startswith(_UNREAD) or not finding.origins for finding in others):
            return None
        made = find_nodes_made_from(
            {origin.file for finding in others for origin in finding.origins}, (version,)
        )
        return None if made is None else named | made


class PublishOutcome(msgspec.Struct, frozen=True):
    """What was committed, if anything; how many nodes were rendered, are not as before, and are gone.

    `held` are nodes that stay as they were because of errors, `unmade` their files whose template fails,
    `refused` errors because of which nothing is committed: nobody knows which nodes they concern.
    """

    source: str
    commit: str | None = None
    rendered: int = 0
    changed: int = 0
    gone: int = 0
    held: tuple[str, ...] = ()
    unmade: tuple[tuple[str, str], ...] = ()
    refused: tuple[Finding, ...] = ()
