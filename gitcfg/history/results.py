"""The results that a log follows: of a feature or group, of a node, of a parameter on a node."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.comparison.change import Delta, Kind, came_and_went, deltas
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.impact import has_collect
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import NodeDefinition
from gitcfg.git.history import History
from gitcfg.history.definitions import (
    NOTHING,
    Implied,
    Outline,
    Ruling,
    binding,
    declaration_changes,
    meaning_text,
    parameters,
    ruling,
    secrets,
)
from gitcfg.history.effect import Effect, Turn, held, kind_of
from gitcfg.history.fleet import Census, Sides, Taker, Whole, Wholes
from gitcfg.history.layers import Layer, composed
from gitcfg.history.nodes import ALONE, Made, Maker, NodeState, OneNode, Parts, feature_roots, group_roots
from gitcfg.history.snapshot import Documents, Key, Pool, Snapshot, followed_pool
from gitcfg.model import Model, Parameter, Secret, Use
from gitcfg.model.names import TEXTS

_NO_POOL = Pool()


class LayerState(msgspec.Struct, frozen=True):
    """A feature or group at one commit; no layer where it is not defined."""

    snapshot: Snapshot
    made: Made | None
    layer: Layer | None
    pool: Pool
    census: Census | None

    @property
    def nodes(self) -> Mapping[str, Any]:
        """Those that have it."""
        return self.census.answers if self.census else {}


class LayerResult:
    """A feature's or group's result: the layer that it is composed to, and the nodes that have it.

    Of a layer count the operations that act, the files with the texts that they name, and the features
    inside. A group's nodes are its members: of the default group, all.
    """

    def __init__(self, history: History, kind: str, name: str) -> None:
        documents = Documents(history.read)
        self._name = name
        self._group = kind == "group"
        roots = group_roots if self._group else feature_roots
        self._maker = Maker(documents, Implied(documents, history.read), roots(name))
        self._outlines = documents.outlined(Outline(lambda param: False).of)
        self._taker = Taker(self._member if self._group else self._has)
        self._sides = Sides(history)

    def follow(self, older: LayerState | None, snapshot: Snapshot, keys: frozenset[Key]) -> LayerState:
        """Return the feature or group at a neighbour that is different in `keys`."""
        made = self._maker.make(older.made if older else None, snapshot, keys)
        pool = followed_pool(self._outlines, older.pool if older else _NO_POOL, snapshot, keys)
        ruling = made.ruling if made and not self._group else NOTHING
        census = self._taker.take(older.census if older else None, pool, ruling=ruling)
        same = older is not None and self._same(older, made, snapshot)
        layer = older.layer if older and same else self._layer(made, snapshot)
        return LayerState(snapshot, made, layer, pool, census)

    def effect(self, old: LayerState | None, new: LayerState) -> Effect | None:
        """Return what is not the same; None if nothing is."""
        before, after = (old.layer if old else None), new.layer
        ours, theirs = (old.nodes if old else {}), new.nodes
        if before is after and (before is None or ours is theirs):
            return None
        kind = kind_of(before is not None, after is not None)
        before, after = before or Layer(), after or Layer()
        params = dict(_deltas(before.params, after.params))
        files = tuple(sorted({path for path, _ in before.files.items() ^ after.files.items()}))
        features = came_and_went(before.features, after.features)
        came, went = (held(sorted(names)) for names in (theirs.keys() - ours, ours.keys() - theirs))
        if kind is Kind.CHANGED and not (params or files or features or came or went):
            return None
        return Effect(kind, params, files, features, added=came, removed=went)

    def close(self) -> None:
        """End the templates' child."""
        self._sides.close()

    def _same(self, older: LayerState, made: Made | None, snapshot: Snapshot) -> bool:
        if made is None or older.made is None:
            return made is older.made
        ours, theirs = older.snapshot.others, snapshot.others
        reads = older.layer is not None and older.layer.reads
        texts = not reads or all(ours[folder] is theirs[folder] for folder in TEXTS)
        return made.stacks is older.made.stacks and texts

    def _layer(self, made: Made | None, snapshot: Snapshot) -> Layer | None:
        if made is None or self._name not in (made.scope.groups if self._group else made.scope.features):
            return None
        layers = made.stacks.layers
        partial = layers.group(self._name) if self._group else layers.feature(Use(self._name, ALONE))
        if partial is None:  # it includes more than is supported
            return Layer()
        side = self._sides.side
        return composed(
            partial, self._name, snapshot, lambda: side(made.settings, made.declarations, snapshot)
        )

    def _has(self, model: Model, about: NodeDefinition, compiled: Callable[[], NodeClass]) -> bool | None:
        return self._name in compiled().features or None

    def _member(self, model: Model, about: NodeDefinition, compiled: Callable[[], NodeClass]) -> bool | None:
        if self._name not in model.groups:
            return None
        default = self._name == model.settings.default_group
        return default or any(ref.name == self._name for ref in about.groups) or None


def _deltas(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[tuple[str, Delta]]:
    """Yield the parameters of which the operations differ."""
    for name in sorted({name for name, _ in old.items() ^ new.items()}):
        yield name, Delta(*(_decoded(side.get(name)) for side in (old, new)))


def _decoded(operations: bytes | None) -> Any:
    return UNSET if operations is None else msgspec.json.decode(operations)


# What a node gets, or one parameter's value on it, at one commit after the other.


class NodeResult:
    """A node's result: its parameters, features, explicit groups (in whatever order), and files.

    Values are equal if they are as JSON. Files are what rendering gives; they are rendered only where
    something that they are made of is different.
    """

    def __init__(self, history: History, name: str) -> None:
        self._node = OneNode(name, history.read)
        self._sides = Sides(history)

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """Return the node at a neighbour that is different in `keys`."""
        return self._node.follow(older, snapshot, keys)

    def effect(self, old: NodeState | None, new: NodeState) -> Effect | None:
        """Return what is not the same; None if nothing is."""
        before, after = old.node if old else None, new.node
        if before is after and (before is None or old is None or _same_sources(old, new)):
            return None
        params = _deltas_node(before.params if before else {}, after.params if after else {})
        nothing = frozenset[str]()
        features = came_and_went(*(node.node_class.features if node else nothing for node in (before, after)))
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
        """Return the node at a neighbour that is different in `keys`."""
        return self._node.follow(older, snapshot, keys)

    def effect(self, old: NodeState | None, new: NodeState) -> Effect | None:
        """Return what is not the same; None if nothing is."""
        before, after = (self._value(state) for state in (old, new))
        params = deltas(before, after)
        return Effect(kind_of(bool(before), bool(after)), params) if params else None

    def close(self) -> None:
        """There is nothing to end."""

    def _value(self, state: NodeState | None) -> dict[str, object]:
        params = state.node.params if state and state.node else {}
        return {self._param: params[self._param]} if self._param in params else {}


def _deltas_node(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Delta]:
    """Return what differs of parameters; most values are the very same objects."""
    names = [name for name in old.keys() | new.keys() if old.get(name) is not new.get(name)]
    names += [name for name in old.keys() ^ new.keys() if old.get(name, new.get(name)) is None]  # bare ones
    return deltas(*({name: side[name] for name in names if name in side} for side in (old, new)))


def _same_sources(old: NodeState, new: NodeState) -> bool:
    ours, theirs = old.snapshot.others, new.snapshot.others
    return all(ours[folder] is theirs[folder] for folder in TEXTS)


# What a parameter is on all nodes, followed from commit to commit.

_NOTHING = Pool()


class ParamState(msgspec.Struct, frozen=True):
    """A parameter at one commit: its values as JSON by node, and what declares it, by its name."""

    snapshot: Snapshot
    pool: Pool
    declared: Mapping[str, Parameter]
    secrets: Mapping[str, Secret]
    ruling: Ruling
    census: Census | None
    whole: Whole | None
    values: Mapping[str, bytes]


class ParamResult:
    """A parameter's result: its value on each node that binds it, and its declaration.

    Values are equal if they are as JSON. The declaration is what the exact name says, else the family
    that fits best; where it is written does not matter.
    """

    def __init__(self, history: History, name: str) -> None:
        self._name = name
        documents = Documents(history.read)
        self._documents = documents.outlined(Outline(binding(name)).of)
        self._wholes = Wholes(documents)
        self._taker = Taker(self._value)
        signs = re.compile(rb"[*?\\]|" + re.escape(name.encode()))
        self._speaks = lru_cache(maxsize=1 << 12)(lambda file: signs.search(history.read(file)) is not None)

    def follow(self, older: ParamState | None, snapshot: Snapshot, keys: frozenset[Key]) -> ParamState:
        """Return the parameter at a neighbour that is different in `keys`."""
        pool = followed_pool(self._documents, older.pool if older else _NOTHING, snapshot, keys)
        declared = self._declared(older, pool, snapshot)
        sealed = self._secrets(older, snapshot)
        ruled = self._ruling(older, pool, snapshot)
        whole = self._whole(older, pool, ruled, snapshot, keys)
        if whole is not None:
            same = older is not None and whole is older.whole
            values = older.values if older and same else self._collected(whole.fleet)
            return ParamState(snapshot, pool, declared, sealed, ruled, None, whole, values)
        census = self._taker.take(older.census if older else None, pool, declared, sealed, ruled)
        values = census.answers if census else {}
        return ParamState(snapshot, pool, declared, sealed, ruled, census, None, values)

    def effect(self, old: ParamState | None, new: ParamState) -> Effect | None:
        """Return what is not the same; None if nothing is."""
        values = tuple(_turns(old.values if old else {}, new.values))
        declaration = declaration_changes(old.declared if old else {}, new.declared)
        if not (values or declaration):
            return None
        before = old is not None and bool(old.values or old.declared)
        kind = kind_of(before, bool(new.values or new.declared))
        return Effect(kind, values=values, declaration=declaration)

    def close(self) -> None:
        """There is nothing to end."""

    def _speaking(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the files that may declare the parameter: they hold its name, a pattern, or an escape."""
        return {path: file for path, file in files.items() if self._speaks(file)}

    def _value(self, model: Model, about: NodeDefinition, compiled: Callable[[], NodeClass]) -> bytes | None:
        return self._of(compiled())

    def _of(self, kind: NodeClass) -> bytes | None:
        values = kind.some((self._name,))
        return msgspec.json.encode(values[self._name], order="sorted") if self._name in values else None

    def _collected(self, fleet: Fleet) -> dict[str, bytes]:
        """Return the values where what all nodes have decides about them."""
        found = ((kind, self._of(kind)) for kind in fleet.classes)
        return {name: value for kind, value in found if value is not None for name in kind.names}

    def _whole(
        self,
        older: ParamState | None,
        pool: Pool,
        ruled: Ruling,
        snapshot: Snapshot,
        keys: frozenset[Key],
    ) -> Whole | None:
        """Return the fleet, where the parameter is collected anywhere."""
        said = (bound for params in pool.bindings.values() for bound in params.values())
        if not (ruled.collects or has_collect(said)):
            return None
        return self._wholes.follow(older.whole if older else None, snapshot, keys)

    def _ruling(self, older: ParamState | None, pool: Pool, snapshot: Snapshot) -> Ruling:
        if pool.settings is None:
            return NOTHING
        same = older is not None and older.pool.settings == pool.settings
        known = (older.ruling, older.snapshot) if older and same else None
        return ruling(self._documents, pool.settings, known, snapshot)

    def _secrets(self, older: ParamState | None, snapshot: Snapshot) -> Mapping[str, Secret]:
        """Return the secrets that there are; the older mapping if the files are the same."""
        files = snapshot.others["secrets"]
        if older is not None and files is older.snapshot.others["secrets"]:
            return older.secrets
        return secrets(self._documents, files)

    def _declared(self, older: ParamState | None, pool: Pool, snapshot: Snapshot) -> Mapping[str, Parameter]:
        """Return what declares the parameter; the older mapping if that says the same."""
        if pool.settings is None:
            return {}
        files = snapshot.others["parameters"]
        if older is not None and older.pool.settings and files is older.snapshot.others["parameters"]:
            return older.declared
        found = Declarations(parameters(self._documents, self._speaking(files)), {}).find(self._name)
        declared = {found.name: found} if found else {}
        if older is not None and meaning_text(declared) == meaning_text(older.declared):
            return older.declared
        return declared


def _turns(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[Turn]:
    """Yield the values that differ, those of most nodes first."""
    if old is new:
        return
    groups: dict[tuple[bytes | None, bytes | None], list[str]] = {}
    for name in {name for name, _ in old.items() ^ new.items()}:
        groups.setdefault((old.get(name), new.get(name)), []).append(name)
    for (before, after), names in sorted(groups.items(), key=lambda item: (-len(item[1]), min(item[1]))):
        found = held(sorted(names))
        assert found is not None
        yield Turn(found.nodeset, found.count, _decoded_param(before), _decoded_param(after))


def _decoded_param(value: bytes | None) -> Any:
    return UNSET if value is None else msgspec.json.decode(value)
