"""The results that a log follows: those of a feature or group, of a node, of a parameter on a node."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.comparison.change import Delta, Kind, came_and_went, deltas
from gitcfg.compile.declarations import Declarations
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
from gitcfg.history.effect import Effect, ValueChange, count_nodes, kind_of
from gitcfg.history.fleet import Census, Censuses, Sides, WholeFleet, WholeFleets
from gitcfg.history.layers import Layer, composed
from gitcfg.history.nodes import (
    ALONE,
    Composer,
    Composition,
    FileParts,
    NodeHistory,
    NodeState,
    feature_roots,
    group_roots,
)
from gitcfg.history.snapshot import Documents, Key, Pool, Snapshot, update_pool
from gitcfg.model import Model, Parameter, Secret, Use
from gitcfg.model.names import TEXTS
from gitcfg.nodeset import fold

_NO_POOL = Pool()


class LayerState(msgspec.Struct, frozen=True):
    """A feature or group at one commit; without a layer if it is not defined."""

    snapshot: Snapshot
    composition: Composition | None
    layer: Layer | None
    pool: Pool
    census: Census | None

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The nodes that have it."""
        return self.census.answers if self.census else {}


class LayerResult:
    """The result of a feature or group: the layer that it composes to, and the nodes that have it.

    In a layer, these count: the effective operations, the files with their texts, and the included features.
    A group's nodes are its members; those of the default group are all nodes.
    """

    def __init__(self, history: History, kind: str, name: str) -> None:
        documents = Documents(history.read)
        self._name = name
        self._group = kind == "group"
        roots = group_roots if self._group else feature_roots
        self._composer = Composer(documents, Implied(documents, history.read), roots(name))
        self._outlines = documents.outlined(Outline(lambda param: False).of)
        self._censuses = Censuses(self._is_member if self._group else self._has_feature)
        self._sides = Sides(history)

    def follow(self, older: LayerState | None, snapshot: Snapshot, keys: frozenset[Key]) -> LayerState:
        """Return the feature or group at a neighbour that differs in `keys`."""
        composition = self._composer.compose(older.composition if older else None, snapshot, keys)
        pool = update_pool(self._outlines, older.pool if older else _NO_POOL, snapshot, keys)
        ruling = composition.ruling if composition and not self._group else NOTHING
        census = self._censuses.take(older.census if older else None, pool, ruling=ruling)
        same = older is not None and self._is_same(older, composition, snapshot)
        layer = older.layer if older and same else self._layer(composition, snapshot)
        return LayerState(snapshot, composition, layer, pool, census)

    def effect(self, old: LayerState | None, new: LayerState) -> Effect | None:
        """Return what differs; None if nothing does."""
        before, after = (old.layer if old else None), new.layer
        ours, theirs = (old.nodes if old else {}), new.nodes
        if before is after and (before is None or ours is theirs):
            return None
        kind = kind_of(before is not None, after is not None)
        before, after = before or Layer(), after or Layer()
        # For parameters, the differing operations.
        names = sorted({name for name, _ in before.params.items() ^ after.params.items()})
        params = {
            name: Delta(*(_decode(side.params.get(name)) for side in (before, after))) for name in names
        }
        files = tuple(sorted({path for path, _ in before.files.items() ^ after.files.items()}))
        features = came_and_went(before.features, after.features)
        came, went = (count_nodes(sorted(names)) for names in (theirs.keys() - ours, ours.keys() - theirs))
        if kind is Kind.CHANGED and not (params or files or features or came or went):
            return None
        return Effect(kind, params, files, features, added=came, removed=went)

    def close(self) -> None:
        """End the templates' child process."""
        self._sides.close()

    def _is_same(self, older: LayerState, composition: Composition | None, snapshot: Snapshot) -> bool:
        if composition is None or older.composition is None:
            return composition is older.composition
        reads = older.layer is not None and older.layer.reads
        same_texts = not reads or _has_same_texts(older.snapshot, snapshot)
        return composition.stacks is older.composition.stacks and same_texts

    def _layer(self, composition: Composition | None, snapshot: Snapshot) -> Layer | None:
        if composition is None:
            return None
        scope, layers = composition.scope, composition.stacks.layers
        if self._name not in (scope.groups if self._group else scope.features):
            return None
        partial = layers.group(self._name) if self._group else layers.feature(Use(self._name, ALONE))
        if partial is None:  # it includes more than is supported
            return Layer()
        settings, declarations = composition.settings, composition.declarations
        side = self._sides.side
        return composed(partial, self._name, snapshot, lambda: side(settings, declarations, snapshot))

    def _has_feature(
        self, model: Model, about: NodeDefinition, compiled: Callable[[], NodeClass]
    ) -> bool | None:
        return self._name in compiled().features or None

    def _is_member(
        self, model: Model, about: NodeDefinition, compiled: Callable[[], NodeClass]
    ) -> bool | None:
        if self._name not in model.groups:
            return None
        default = self._name == model.settings.default_group
        return default or any(ref.name == self._name for ref in about.groups) or None


def _decode(value: bytes | None) -> Any:
    return UNSET if value is None else msgspec.json.decode(value)


def _has_same_texts(old: Snapshot, new: Snapshot) -> bool:
    return all(old.others[folder] is new.others[folder] for folder in TEXTS)


# A node's configuration, or one parameter's value on it, at successive commits.


class NodeResult:
    """A node's result: its parameters, features, explicit groups (in any order), and files.

    Values are equal if their JSON is. Files are the rendered ones; they are rendered only if anything that
    they are made of differs.
    """

    def __init__(self, history: History, name: str) -> None:
        self._node = NodeHistory(name, history.read)
        self._sides = Sides(history)

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """Return the node at a neighbour that differs in `keys`."""
        return self._node.follow(older, snapshot, keys)

    def effect(self, old: NodeState | None, new: NodeState) -> Effect | None:
        """Return what differs; None if nothing does."""
        before, after = old.node if old else None, new.node
        if before is after and (before is None or old is None or _has_same_texts(old.snapshot, new.snapshot)):
            return None
        params = _param_changes(before.params if before else {}, after.params if after else {})
        nothing = frozenset[str]()
        features = came_and_went(*(node.node_class.features if node else nothing for node in (before, after)))
        groups = came_and_went(*(frozenset(node.groups) if node else nothing for node in (before, after)))
        files = self._files(old, new, params)
        kind = kind_of(before is not None, after is not None)
        if kind is Kind.CHANGED and not (params or files or features or groups):
            return None
        return Effect(kind, params, files, features, groups)

    def close(self) -> None:
        """End the templates' child process."""
        self._sides.close()

    def _files(self, old: NodeState | None, new: NodeState, params: dict[str, Delta]) -> tuple[str, ...]:
        sides = [
            self._sides.side(state.composition.settings, state.composition.declarations, state.snapshot)
            for state in (old, new)
            if state is not None and state.composition is not None
        ]
        pair = (old.node if old else None, new.node)
        parts = FileParts(sides[0], sides[-1], params)
        return next(paths for paths, _ in parts.changed({"": pair}, params))


class NodeValue:
    """The value of one parameter on a node. Not bound differs from bound without a value."""

    def __init__(self, history: History, name: str, param: str) -> None:
        self._node = NodeHistory(name, history.read, Outline(binding(param)))
        self._param = param

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """Return the node at a neighbour that differs in `keys`."""
        return self._node.follow(older, snapshot, keys)

    def effect(self, old: NodeState | None, new: NodeState) -> Effect | None:
        """Return what differs; None if nothing does."""
        before, after = (self._value(state) for state in (old, new))
        params = deltas(before, after)
        return Effect(kind_of(bool(before), bool(after)), params) if params else None

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _value(self, state: NodeState | None) -> dict[str, object]:
        params = state.node.params if state and state.node else {}
        return {self._param: params[self._param]} if self._param in params else {}


def _param_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Delta]:
    """Return the differing parameters; most values are the same objects."""
    names = [name for name in old.keys() | new.keys() if old.get(name) is not new.get(name)]
    names += [
        name for name in old.keys() ^ new.keys() if old.get(name, new.get(name)) is None
    ]  # parameters without a value
    return deltas(*({name: side[name] for name in names if name in side} for side in (old, new)))


# A parameter on all nodes, followed from commit to commit.


class ParamState(msgspec.Struct, frozen=True):
    """A parameter at one commit: its values as JSON by node, and its declaration by its name."""

    snapshot: Snapshot
    pool: Pool
    declared: Mapping[str, Parameter]
    secrets: Mapping[str, Secret]
    ruling: Ruling
    census: Census | None
    whole: WholeFleet | None
    values: Mapping[str, bytes]


class ParamResult:
    """A parameter's result: its value on each node that binds it, and its declaration.

    Values are equal if their JSON is. The declaration is that of the exact name, else of the best matching
    family; its place does not matter.
    """

    def __init__(self, history: History, name: str) -> None:
        self._name = name
        documents = Documents(history.read)
        self._documents = documents.outlined(Outline(binding(name)).of)
        self._fleets = WholeFleets(documents)
        self._censuses = Censuses(self._value)
        signs = re.compile(rb"[*?\\]|" + re.escape(name.encode()))
        # Files that may declare the parameter contain its name, a pattern, or an escape.
        self._may_declare = lru_cache(maxsize=1 << 12)(
            lambda file: signs.search(history.read(file)) is not None
        )

    def follow(self, older: ParamState | None, snapshot: Snapshot, keys: frozenset[Key]) -> ParamState:
        """Return the parameter at a neighbour that differs in `keys`."""
        pool = update_pool(self._documents, older.pool if older else _NO_POOL, snapshot, keys)
        declared = self._declared(older, pool, snapshot)
        sealed = self._secrets(older, snapshot)
        ruled = self._ruling(older, pool, snapshot)
        whole = self._whole(older, pool, ruled, snapshot, keys)
        if whole is not None:
            if older is not None and whole is older.whole:
                values = older.values
            else:
                found = ((node_class, self._of(node_class)) for node_class in whole.fleet.classes)
                values = {name: value for each, value in found if value is not None for name in each.names}
            return ParamState(snapshot, pool, declared, sealed, ruled, None, whole, values)
        census = self._censuses.take(older.census if older else None, pool, declared, sealed, ruled)
        values = census.answers if census else {}
        return ParamState(snapshot, pool, declared, sealed, ruled, census, None, values)

    def effect(self, old: ParamState | None, new: ParamState) -> Effect | None:
        """Return what differs; None if nothing does."""
        values = tuple(_value_changes(old.values if old else {}, new.values))
        declaration = declaration_changes(old.declared if old else {}, new.declared)
        if not (values or declaration):
            return None
        before = old is not None and bool(old.values or old.declared)
        kind = kind_of(before, bool(new.values or new.declared))
        return Effect(kind, values=values, declaration=declaration)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _value(self, model: Model, about: NodeDefinition, compiled: Callable[[], NodeClass]) -> bytes | None:
        return self._of(compiled())

    def _of(self, node_class: NodeClass) -> bytes | None:
        values = node_class.some((self._name,))
        return msgspec.json.encode(values[self._name], order="sorted") if self._name in values else None

    def _whole(
        self,
        older: ParamState | None,
        pool: Pool,
        ruled: Ruling,
        snapshot: Snapshot,
        keys: frozenset[Key],
    ) -> WholeFleet | None:
        """Return the fleet if any values are collected, else None."""
        bindings = (bound for params in pool.bindings.values() for bound in params.values())
        if not (ruled.collects or has_collect(bindings)):
            return None
        return self._fleets.follow(older.whole if older else None, snapshot, keys)

    def _ruling(self, older: ParamState | None, pool: Pool, snapshot: Snapshot) -> Ruling:
        if pool.settings is None:
            return NOTHING
        same = older is not None and older.pool.settings == pool.settings
        known = (older.ruling, older.snapshot) if older and same else None
        return ruling(self._documents, pool.settings, known, snapshot)

    def _secrets(self, older: ParamState | None, snapshot: Snapshot) -> Mapping[str, Secret]:
        """Return the existing secrets; the older mapping if the files are the same."""
        files = snapshot.others["secrets"]
        if older is not None and files is older.snapshot.others["secrets"]:
            return older.secrets
        return secrets(self._documents, files)

    def _declared(self, older: ParamState | None, pool: Pool, snapshot: Snapshot) -> Mapping[str, Parameter]:
        """Return the parameter's declaration; the older mapping if its meaning is the same."""
        if pool.settings is None:
            return {}
        files = snapshot.others["parameters"]
        if older is not None and older.pool.settings and files is older.snapshot.others["parameters"]:
            return older.declared
        files = {path: file for path, file in files.items() if self._may_declare(file)}
        found = Declarations(parameters(self._documents, files), {}).find(self._name)
        declared = {found.name: found} if found else {}
        if older is not None and meaning_text(declared) == meaning_text(older.declared):
            return older.declared
        return declared


def _value_changes(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[ValueChange]:
    """Yield the values that differ, those of most nodes first."""
    if old is new:
        return
    groups = defaultdict[tuple[bytes | None, bytes | None], list[str]](list)
    for name in {name for name, _ in old.items() ^ new.items()}:
        groups[old.get(name), new.get(name)].append(name)
    for (before, after), names in sorted(groups.items(), key=lambda item: (-len(item[1]), min(item[1]))):
        yield ValueChange(fold(sorted(names)), len(names), _decode(before), _decode(after))
