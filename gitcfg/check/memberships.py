"""GC506: lists of nodes that silently drop what the set gave."""

from collections.abc import Iterator

from gitcfg.check.fold import of
from gitcfg.check.structure import listed
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding, ListEdit, Node, NodeSet, Op

_LISTS = ("groups", "features", "without", "labels")


def memberships(fleet: Fleet) -> Iterator[Finding]:
    """Warnings about what nodes' lists say."""
    for name in sorted(fleet.model.nodes.keys() & fleet.roster.sets.keys()):
        yield from _dropped(fleet.model.nodes[name], fleet.roster.sets[name])


def _dropped(node: Node, nodeset: NodeSet) -> Iterator[Finding]:
    """GC506: a list that replaces the set's and lacks some of it."""
    words, origins = [], []
    for key in _LISTS:
        own: ListEdit = getattr(node, key)
        given: ListEdit = getattr(nodeset.definition, key)
        lost = _names(given) - _names(own)
        if own.op is Op.SET and given.op is not Op.REMOVE and lost:
            words.append(f"{key} {listed(sorted(lost))}")
            origins += [own.origin or node.origin, given.origin or nodeset.origin]
    if words:
        message = f"{node.name} drops what its node set {nodeset.name} gives: {'; '.join(words)}."
        hint = "Write {$prepend: [...]}, {$append: [...]} or {$remove: [...]} to compose the lists."
        yield of("GC506", node.name, message, origins, [node.name], hint)


def _names(edit: ListEdit) -> set[str]:
    return {item.feature if hasattr(item, "feature") else item.name for item in edit.items}
