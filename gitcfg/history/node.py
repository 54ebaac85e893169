"""One node, compiled anew only where something that it is made of is different."""

import msgspec

from gitcfg.compile.fleetnode import FleetNode
from gitcfg.compile.nodes import said
from gitcfg.history.conditions import Conditions
from gitcfg.history.documents import Documents
from gitcfg.history.implied import Implied
from gitcfg.history.made import Made, Maker
from gitcfg.history.rooted import NodeRoots
from gitcfg.history.snapshot import Key, Snapshot


class NodeState(msgspec.Struct, frozen=True):
    """A node at one commit; None where it is not there."""

    snapshot: Snapshot
    made: Made | None = None
    node: FleetNode | None = None


class OneNode:
    """A node by its name, followed from commit to commit."""

    def __init__(self, name: str, documents: Documents, implied: Implied) -> None:
        self._maker = Maker(documents, implied, NodeRoots(name))
        self._name = name
        self._conditions = Conditions()

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """The node at a neighbour that is different in `keys`."""
        before = older.made if older else None
        made = self._maker.make(before, snapshot, keys)
        if made is None:
            return NodeState(snapshot)
        same = before and made.stacks is before.stacks and made.scope.said_as(before.scope)
        return NodeState(snapshot, made, older.node if older and same else self._compiled(made))

    def _compiled(self, made: Made) -> FleetNode | None:
        own, nodeset, *overrides = made.scope.roots.said
        if own is None and nodeset is None:
            return None
        about = said(own, nodeset)
        listed = [override for override in overrides if not override.where]
        selecting = [override for override in overrides if override.where]
        chosen = self._conditions.applying(self._name, about, listed, selecting, made.stacks)
        return FleetNode(self._name, made.stacks.compile(about, chosen), about)
