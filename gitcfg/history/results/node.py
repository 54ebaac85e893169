"""What a node gets, or one parameter's value on it, at one commit after the other."""

from collections.abc import Mapping
from typing import Any

from gitcfg.comparison.change import Delta, Kind, came_and_went, deltas
from gitcfg.git.history import History
from gitcfg.history.effect import Effect, kind_of
from gitcfg.history.node import NodeState, OneNode
from gitcfg.history.outline import Outline, binding
from gitcfg.history.parts import Parts
from gitcfg.history.sides import Sides
from gitcfg.history.snapshot import Key, Snapshot
from gitcfg.model.folders import TEXTS


class NodeResult:
    """A node's result: its parameters, features, explicit groups (in whatever order), and files.

    Values are equal if they are as JSON. Files are what rendering gives; they are rendered only where
    something that they are made of is different.
    """

    def __init__(self, history: History, name: str) -> None:
        self._node = OneNode(name, history.read)
        self._sides = Sides(history)

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """The node at a neighbour that is different in `keys`."""
        return self._node.follow(older, snapshot, keys)

    def effect(self, old: NodeState | None, new: NodeState) -> Effect | None:
        """What is not the same; None if nothing is."""
        before, after = old.node if old else None, new.node
        if before is after and (before is None or old is None or _same_sources(old, new)):
            return None
        params = _deltas(before.params if before else {}, after.params if after else {})
        nothing = frozenset[str]()
        features = came_and_went(*(node.kind.features if node else nothing for node in (before, after)))
        groups = came_and_went(*(frozenset(node.groups) if node else nothing for node in (before, after)))
        files = self._files(old, new, params)
        kind = kind_of(before is not None, after is not None)
        if kind is Kind.CHANGED and not (params or files or features or groups):
            return None
        return Effect(kind, params, files, features, groups)

    def close(self) -> None:
        """End the templates' child."""
        self._sides.close()

    def _files(self, old: NodeState | None, new: NodeState, params: dict[str, Delta]) -> tuple[str, ...]:
        sides = [
            self._sides.side(state.made.settings, state.made.declarations, state.snapshot)
            for state in (old, new)
            if state is not None and state.made is not None
        ]
        pair = (old.node if old else None, new.node)
        parts = Parts(sides[0], sides[-1], params)
        return next(paths for paths, _ in parts.changed({"": pair}, params))


class NodeValue:
    """The value of one parameter on a node; not bound and bound without a value are two things."""

    def __init__(self, history: History, name: str, param: str) -> None:
        self._node = OneNode(name, history.read, Outline(binding(param)))
        self._param = param

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """The node at a neighbour that is different in `keys`."""
        return self._node.follow(older, snapshot, keys)

    def effect(self, old: NodeState | None, new: NodeState) -> Effect | None:
        """What is not the same; None if nothing is."""
        before, after = (self._value(state) for state in (old, new))
        params = deltas(before, after)
        return Effect(kind_of(bool(before), bool(after)), params) if params else None

    def close(self) -> None:
        """There is nothing to end."""

    def _value(self, state: NodeState | None) -> dict[str, object]:
        params = state.node.params if state and state.node else {}
        return {self._param: params[self._param]} if self._param in params else {}


def _deltas(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Delta]:
    """What differs of parameters; most values are the very same objects."""
    names = [name for name in old.keys() | new.keys() if old.get(name) is not new.get(name)]
    names += [name for name in old.keys() ^ new.keys() if old.get(name, new.get(name)) is None]  # bare ones
    return deltas(*({name: side[name] for name in names if name in side} for side in (old, new)))


def _same_sources(old: NodeState, new: NodeState) -> bool:
    ours, theirs = old.snapshot.others, new.snapshot.others
    return all(ours[folder] is theirs[folder] for folder in TEXTS)
