"""GC511: a node goes in two steps, retired first, so that what runs on it is stopped."""

from collections.abc import Iterator

from gitcfg.check.fold import of
from gitcfg.compile.nodes import Roster
from gitcfg.model import Finding


def retired(now: Roster, before: Roster) -> Iterator[Finding]:
    """Nodes that were active before and are gone at once."""
    for name in before.names():
        if name in now:
            continue
        said = before.said(name)
        definition = said.own or (said.nodeset.definition if said.nodeset else None)
        if not said.retired and definition is not None:
            message = f"The node {name} is gone without having been retired."
            hint = "Write `state: retired` first; delete it when it has reported so."
            yield of("GC511", name, message, [definition.origin], [name], hint)
