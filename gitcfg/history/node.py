"""One node, compiled anew only where something that it is made of is different."""

from collections.abc import Callable

import msgspec

from gitcfg.compile.fleetnode import FleetNode
from gitcfg.compile.nodes import said
from gitcfg.history.conditions import Conditions, bringing
from gitcfg.history.documents import Documents
from gitcfg.history.implied import Implied
from gitcfg.history.made import Made, Maker
from gitcfg.history.outline import Outline
from gitcfg.history.rooted import NodeRoots
from gitcfg.history.snapshot import Key, Snapshot
from gitcfg.history.whole import Whole, Wholes


class NodeState(msgspec.Struct, frozen=True):
    """A node at one commit, None where it is not there; `whole` where it takes all nodes to tell."""

    snapshot: Snapshot
    made: Made | None = None
    whole: Whole | None = None
    node: FleetNode | None = None


class OneNode:
    """A node by its name, followed from commit to commit.

    Where values are collected it is one of a fleet, else it is made of what it leads to alone. `outline`
    is what of definitions matters, if not all.
    """

    def __init__(self, name: str, content: Callable[[bytes], bytes], outline: Outline | None = None) -> None:
        documents = Documents(content)
        outlined = documents.outlined(outline.of) if outline else documents
        self._maker = Maker(outlined, Implied(outlined, content), NodeRoots(name))
        self._wholes = Wholes(documents)
        self._name = name
        self._conditions = Conditions()

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """The node at a neighbour that is different in `keys`."""
        made = self._maker.make(older.made if older else None, snapshot, keys)
        if made is None:
            return NodeState(snapshot)
        if made.collects:
            return self._collecting(older, made, keys)
        before = older.made if older and older.whole is None else None
        same = before and made.stacks is before.stacks and made.scope.said_as(before.scope)
        return NodeState(snapshot, made, None, older.node if older and same else self._compiled(made))

    def _collecting(self, older: NodeState | None, made: Made, keys: frozenset[Key]) -> NodeState:
        before = older.whole if older else None
        whole = self._wholes.follow(before, made.snapshot, keys)
        if older and whole is before:
            return NodeState(made.snapshot, made, whole, older.node)
        return NodeState(made.snapshot, made, whole, whole.node(self._name) if whole else None)

    def _compiled(self, made: Made) -> FleetNode | None:
        own, nodeset, *overrides = made.scope.roots.said
        if own is None and nodeset is None:
            return None
        about = said(own, nodeset)
        listed = [override for override in overrides if not override.where]
        selecting = [override for override in overrides if override.where]
        rules = bringing(made.stacks)
        kind = self._conditions.compiled(self._name, about, listed, selecting, made.stacks, rules)
        return FleetNode(self._name, kind, about)
