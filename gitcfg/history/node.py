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
    """A node at one commit, None where it is not there.

    `alone` is what it is made of, and `whole` the fleet that tells what it collects, if it does.
    """

    snapshot: Snapshot
    made: Made | None = None
    alone: FleetNode | None = None
    whole: Whole | None = None
    node: FleetNode | None = None


class OneNode:
    """A node by its name, followed from commit to commit.

    It is made of what it leads to; where it collects values it is one of a whole fleet. `outline` is what
    of definitions matters, if not all.
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
        before = older.made if older else None
        if older and before and made.stacks is before.stacks and made.scope.said_as(before.scope):
            alone, collecting = older.alone, older.whole is not None
        else:
            alone = self._compiled(made)
            collecting = alone is not None and bool(alone.kind.collected)
        if not collecting:
            return NodeState(snapshot, made, alone, None, alone)
        whole = self._wholes.follow(older.whole if older else None, snapshot, keys)
        if older and whole is older.whole:
            return NodeState(snapshot, made, alone, whole, older.node)
        return NodeState(snapshot, made, alone, whole, whole.node(self._name) if whole else None)

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
