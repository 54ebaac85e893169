"""Classes of nodes that differ only in their names: their layers, the composed values, and these as text."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial, reduce
from typing import Any, AnyStr, Generic

from msgspec.structs import replace

from gitcfg.compile.declarations import Declarations
from gitcfg.compile.layers import NOWHERE, FilledLayers, Layers
from gitcfg.compile.nodes import NO_EFFECTS, NodeDefinition, RuleEffects, RuleInstall
from gitcfg.compile.operations import (
    LACKING,
    NOTHING,
    PENDING,
    Step,
    TrailStep,
    fold,
    make_trail,
    remove_duplicates,
)
from gitcfg.compile.partial import Cell, Partial, join, stack_files
from gitcfg.compile.values import Misfit
from gitcfg.model import Decision, Fact, FileEntry, Model, Node, Op, Override, Ref
from gitcfg.model.secrets import is_secret, secret_name

_NO_FEATURES = frozenset[str]()
_NO_SECRETS: Mapping[str, str] = {}
_HELD = 64
_HELD_SHARED = 512
_SHARED = 3
"""The number of lowest layers that are composed once for all classes with them, since groups recur."""
Parts = tuple[Partial, ...]


class NodeClass:
    """Nodes with the same configuration: their layers, lowest first, and what follows from these.

    `names` are its nodes; their labels and addresses may differ. Classes share layers. The composition of all
    layers is large, so a fleet keeps only the most recent ones (`recent`). `effects` are those of rules.
    """

    def __init__(
        self,
        definition: NodeDefinition,
        overrides: tuple[Override, ...],
        layers: Layers,
        parts: tuple[Partial, ...],
        recent: "Recent",
        effects: RuleEffects = NO_EFFECTS,
    ) -> None:
        self.definition = definition
        self.overrides = overrides
        self.effects = effects
        self.layers = layers
        self.parts = parts
        self.names: list[str] = []
        self._recent = recent

    @property
    def stack(self) -> Partial:
        """All layers composed."""
        return self._recent.stack(self)

    @property
    def features(self) -> frozenset[str]:
        """The feature set."""
        return _NO_FEATURES.union(*(part.features for part in self.parts))

    @property
    def without(self) -> tuple[Ref, ...]:
        """Every mention of a feature that these nodes exclude, even if nothing installs it."""
        return find_without(self.definition, self.overrides)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Explicit groups that exist, highest first."""
        return tuple(ref.name for ref in self.definition.groups if ref.name in self.layers.model.groups)

    @cached_property
    def secrets(self) -> Mapping[str, str]:
        """The parameters whose values are secrets, in order of name, with the secrets' names."""
        if not self.layers.declarations.secrets:
            return _NO_SECRETS
        secret = [part.secret for part in self.parts if part.secret]
        if not secret:
            return _NO_SECRETS
        values = self.some(sorted(_NO_FEATURES.union(*secret)))
        return {name: secret_name(value) for name, value in values.items() if is_secret(value)}

    def cell(self, name: str) -> Cell | None:
        """Return the cell of one parameter, without composing the others; None if no layer binds it."""
        found = [part.cells[name] for part in self.parts if name in part.cells]
        return reduce(join, found) if found else None

    @property
    def params(self) -> Mapping[str, Any]:
        """Final values by parameter, in order of name; a bare parameter is None."""
        return self._recent.params(self)

    def some(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the final values of some parameters, without composing the others.

        Unbound ones are left out.
        """
        cells = ((name, self.cell(name)) for name in names)
        found = ((name, self.value(name, cell)) for name, cell in cells if cell is not None)
        return {name: value for name, value in found if value is not NOTHING}

    def steps(self, name: str) -> Iterator[tuple[Step, tuple[str, ...]]]:
        """Yield every step that binds a parameter, lowest first, with its path, innermost first."""
        for part in self.parts:
            if name in part.cells:
                yield from part.steps(name)

    def trail(self, name: str) -> tuple[TrailStep, ...]:
        """Return the steps that bind a parameter, lowest first, with their results."""
        steps = make_trail(self.steps(name), self.facts(name))
        if not any(installed.decided for installed in self.effects.installs):
            return steps
        return tuple(replace(step, decided=(*self._placed(step, name), *step.decided)) for step in steps)

    def _placed(self, step: TrailStep, name: str) -> Iterator[Decision]:
        """Yield the decisions by which a rule installs here what binds a parameter."""
        label = step.path[-1]
        layers = next(part.parts for part in self.parts if part.label == label)
        for installed in self.effects.installs:
            # All places of a rule have one feature, so either each of them is a layer, or none.
            if label == f"rule {installed.rule}" and len(installed.decided) == len(layers):
                placed = zip(layers, reversed(installed.decided), strict=True)
                yield from (decision for layer, decision in placed if name in layer.cells)

    def value(self, name: str, cell: Cell) -> Any:
        """Return the final value of a parameter with this cell, or NOTHING."""
        return finish_value(self.layers.declarations, name, self.composed(name, cell))

    def composed(self, name: str, cell: Cell) -> Any:
        """Return the composed value before its final form; LACKING if something that it needs is missing."""
        pending = cell.value is PENDING
        return fold(cell.steps, NOTHING, self.facts(name, cell.steps)) if pending else cell.value

    @property
    def collected(self) -> frozenset[str]:
        """The parameters with values collected from other nodes."""
        pending = _NO_FEATURES.union(*(part.pending for part in self.parts))
        cells = ((name, self.cell(name)) for name in pending)
        return frozenset(
            name for name, cell in cells if cell and any(step.op is Op.COLLECT for step in cell.steps)
        )

    def facts(self, name: str, steps: Iterable[Step] | None = None) -> Mapping[Any, Any]:
        """Return the nodes' facts as values of one parameter, and what it collects, by `Collect`.

        Facts that do not fit its type stay unchanged. A caller that needs only some steps must pass these,
        because what the others collect may need this very value.
        """
        facts: dict[Any, Any] = {key: self._fact(name, fact) for key, fact in self.definition.facts.items()}
        collector = self.layers.collector
        if collector is not None:
            some = (step for step, _ in self.steps(name)) if steps is None else steps
            facts.update(collector.collect(self.definition, name, some))
        return facts

    def _fact(self, name: str, fact: Fact) -> Any:
        if fact.value is None:
            return None
        try:
            return self.layers.declarations.value(name, fact.value, fact.text)
        except Misfit:
            return None if is_secret(fact.value) else fact.value  # a fact must not give a node a secret

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """File entries by path, in order of path."""
        return self._recent.files(tuple(part.files for part in self.parts if part.files))


def finish_value(declarations: Declarations, name: str, value: Any) -> Any:
    """Return the final form of a composed value of a parameter.

    Of equal items of a unique list the first remains. A value that cannot be collected is null.
    """
    if value is LACKING:
        return None
    if isinstance(value, list):
        parameter = declarations.find(name)
        return remove_duplicates(value) if parameter is not None and parameter.unique else value
    return value


def find_without(definition: NodeDefinition, overrides: tuple[Override, ...]) -> tuple[Ref, ...]:
    """Return the features that the nodes' own `without` and that of their overrides name."""
    return (*definition.without, *(ref for override in overrides for ref in override.without))


class Recent:
    """Composes the layers of classes, and caches the most recent results.

    Keys are layers and facts, not classes: a reference to a class, which refers to this cache, would keep a
    fleet alive.
    """

    def __init__(self) -> None:
        together = lru_cache(_HELD_SHARED)(partial(Partial, None))
        self._stacks = lru_cache(_HELD)(partial(_stack, together))
        self._params: dict[tuple[Parts, int], tuple[Any, Mapping[str, Any]]] = {}
        self._files: dict[tuple[int, ...], tuple[Any, Mapping[str, FileEntry]]] = {}

    def stack(self, node_class: NodeClass) -> Partial:
        """Return all layers of a class as one."""
        return self._stacks(node_class.parts)

    def params(self, node_class: NodeClass) -> Mapping[str, Any]:
        """Return the final values of a class, in order of name."""
        facts = node_class.definition.facts
        key = (node_class.parts, id(facts))
        found = self._params.pop(key) if key in self._params else (facts, compute_values(node_class))
        self._params[key] = found  # moved to the end: the first one is the least recently used
        if len(self._params) > _HELD:
            del self._params[next(iter(self._params))]
        return found[1]

    def files(self, layers: tuple[Mapping[str, FileEntry], ...]) -> Mapping[str, FileEntry]:
        """Return the entries that result from layers, lowest layer first, in order of path."""
        # A fleet has few combinations of file entries, so all are kept; they keep their layers alive.
        key = tuple(map(id, layers))
        if key not in self._files:
            entries = stack_files(list(layers))
            left = {path: entries[path] for path in sorted(entries) if not entries[path].removed}
            self._files[key] = (layers, left)
        return self._files[key][1]


def _stack(together: Callable[[Parts], Partial], parts: Parts) -> Partial:
    """Return layers as one. `together` composes the lowest layers, or returns them from its cache."""
    if len(parts) <= _SHARED:
        return together(parts)
    return Partial(None, (together(parts[:_SHARED]), *parts[_SHARED:]))


def compute_values(node_class: NodeClass) -> Mapping[str, Any]:
    """Return the final values of a class, in order of name."""
    cells = node_class.stack.cells
    found = ((name, node_class.value(name, cells[name])) for name in sorted(cells))
    return {name: value for name, value in found if value is not NOTHING}


# The text of all final values of a class, assembled from pieces that layers share.

MOST = 1 << 17
"""The number of cached pieces: some 20 MiB."""
_BASE = 2
"""The number of lowest layers that are assembled once for all classes with them."""


class Splicer(Generic[AnyStr]):
    """Makes a piece of text for each value once per layer, and the text of a class from its layers' pieces.

    Higher layers replace the pieces of lower ones, and only what several layers compose is written again. The
    piece of an unbound or pending value is empty. Dictionaries start with all names in order, and are copied
    and updated as a whole, which avoids sorting: 10,000 classes of 560 parameters take 0.5 s, while to
    compose, sort and write each value takes 2.5 s.
    """

    def __init__(
        self, declarations: Declarations, piece: Callable[[str, Any], AnyStr], absent: AnyStr
    ) -> None:
        """`piece` writes a parameter with its value; `absent` is an empty text."""
        self._declarations = declarations
        self._piece: Callable[[str, Any], AnyStr] = piece
        self._absent: AnyStr = absent
        self._ordered: dict[str, AnyStr] = {}
        # By identity: layers and cells are kept, so that no other object gets the id of one.
        self._layers: dict[int, tuple[Mapping[str, Cell], Mapping[str, AnyStr]]] = {}
        self._bases: dict[tuple[int, ...], Mapping[str, AnyStr]] = {}
        self._cells: dict[tuple[object, ...], tuple[list[Cell], AnyStr]] = {}
        self._held = 0

    def pieces(self, node_class: NodeClass) -> dict[str, AnyStr]:
        """Return the pieces of a class in order of the parameters' names, which may be more than it binds."""
        layers = [
            self._of_single(part) if part.single else self._of_layer(part.cells) for part in node_class.parts
        ]
        result = self._base(node_class.parts[:_BASE], layers[:_BASE])
        for layer in layers[_BASE:]:
            result.update(layer)
        for name in _together(node_class.parts):
            result[name] = self._of_several(node_class, name)
        return result

    def text(self, node_class: NodeClass) -> AnyStr:
        """Return the pieces of a class, one after another."""
        return self._absent.join(self.pieces(node_class).values())

    def _base(self, parts: Parts, layers: Sequence[Mapping[str, AnyStr]]) -> dict[str, AnyStr]:
        """Return the pieces of the lowest layers with all names in order.

        The caller may change the result.
        """
        key = tuple([id(part.cells) for part in parts])
        base = self._bases.get(key)
        if base is None:
            base = self._ordered.copy()
            for layer in layers:
                base.update(layer)
            if not any(part.single for part in parts):
                self._hold(len(base))
                self._bases[key] = base
        return dict(base)

    def _of_layer(self, cells: Mapping[str, Cell]) -> Mapping[str, AnyStr]:
        """Return a layer's pieces, cached. Layers that only add a label to another one share its cells."""
        known = self._layers.get(id(cells))
        if known is None:
            self._hold(len(cells))
            self._order(cells)
            known = self._layers[id(cells)] = (cells, {name: self._of(name, [cells[name]]) for name in cells})
        return known[1]

    def _of_single(self, part: Partial) -> Mapping[str, AnyStr]:
        """Return the pieces of a layer of a single node, without caching."""
        self._order(part.cells)
        return {
            name: self._piece(name, cell.value) if cell.plain else self._finished(name, cell)
            for name, cell in part.cells.items()
        }

    def _order(self, cells: Mapping[str, Cell]) -> None:
        """Make sure that all names of a layer are in `_ordered`."""
        if not cells.keys() <= self._ordered.keys():
            self._ordered = dict.fromkeys(sorted(self._ordered.keys() | cells.keys()), self._absent)
            self._bases.clear()

    def _of_several(self, node_class: NodeClass, name: str) -> AnyStr:
        """Return the piece of a parameter that several layers compose.

        It is cached for the same combination of cells, unless it depends on facts.
        """
        met = [part.cells[name] for part in node_class.parts if name in part.cells]
        cell = reduce(join, met)
        if cell.value is PENDING:
            return self._write(name, node_class.value(name, cell))
        return self._of(name, met)

    def _of(self, name: str, met: list[Cell]) -> AnyStr:
        """Return the cached piece for a combination of cells. Sharing texts saves the processor's cache."""
        key = (name, *map(id, met))
        known = self._cells.get(key)
        if known is None:
            known = self._cells[key] = (met, self._finished(name, reduce(join, met)))
            self._hold(1)
        return known[1]

    def _finished(self, name: str, cell: Cell) -> AnyStr:
        return self._write(name, finish_value(self._declarations, name, cell.value))

    def _write(self, name: str, value: Any) -> AnyStr:
        return self._absent if value is NOTHING or value is PENDING else self._piece(name, value)

    def _hold(self, count: int) -> None:
        self._held += count
        if self._held > MOST:
            self._layers.clear()
            self._bases.clear()
            self._cells.clear()
            self._held = 0


def _together(parts: Iterable[Partial]) -> set[str]:
    """Return the parameters that no layer decides alone, or only with facts."""
    result: set[str] = set()
    below: list[Mapping[str, Cell]] = []
    for part in parts:
        if part.open:
            result.update(name for name in part.open if any(name in cells for cells in below))
        result |= part.pending
        below.append(part.cells)
    return result


# The layers of each node, stacked into the class that it shares with nodes that are alike.


class Stacks:
    """Stacks layers in the order of semantics.md."""

    def __init__(self, model: Model, layers: Layers, recent: Recent | None = None) -> None:
        """`recent` composes the layers of classes and caches the last results."""
        self.model = model
        self.layers = layers
        self.recent = recent or Recent()
        self._set: dict[str, Partial] = {}
        self._rules: dict[tuple[str, tuple[Partial, ...]], Partial] = {}
        self._nothing = Partial(f"group {model.settings.default_group}")

    def below_overrides(
        self, definition: NodeDefinition, installs: tuple[RuleInstall, ...] = ()
    ) -> frozenset[str]:
        """Return the feature set that a node has without its overrides."""
        parts = self._parts(definition, (), _names(find_without(definition, ())), RuleEffects(installs))
        return frozenset[str]().union(*(part.features for part in parts))

    def compile(
        self, definition: NodeDefinition, overrides: tuple[Override, ...], effects: RuleEffects = NO_EFFECTS
    ) -> NodeClass:
        """Return the class of nodes with this definition, these overrides, and these effects of rules."""
        without = _names(find_without(definition, overrides))
        parts = () if definition.retired else self._parts(definition, overrides, without, effects)
        return NodeClass(definition, overrides, self.layers, parts, self.recent, effects)

    def _parts(
        self,
        definition: NodeDefinition,
        overrides: tuple[Override, ...],
        without: frozenset[str],
        effects: RuleEffects,
    ) -> tuple[Partial, ...]:
        """Return a node's layers, lowest first. Missing groups have no layer, except the default one."""
        layers = self.filled(effects)
        groups = (layers.group(ref.name, without) for ref in reversed(definition.groups))
        return (
            self._default(layers, without),
            *(part for each in effects.installs for part in self._installed(layers, each, without)),
            *(group for group in groups if group is not None),
            *map(self._setting, effects.sets),
            *self._identity(layers, definition, without),
            *(self._override(layers, override, without) for override in overrides),
            *(Partial(f"allocation {rule}", (), layers.steps(values)) for rule, values in effects.values),
        )

    def filled(self, effects: RuleEffects) -> Layers:
        """Return the layers for these effects: with the decided attributes of instances, if there are any."""
        if not effects.attributes:
            return self.layers
        return FilledLayers(self.layers, effects.attributes)

    def _installed(
        self, layers: Layers, installed: RuleInstall, without: frozenset[str]
    ) -> Iterator[Partial]:
        """Yield the layer of what a rule installs, shared by all nodes that get it; none if left out."""
        parts = layers.uses(installed.uses, without)
        if not parts:
            return
        key = installed.rule, parts
        if key not in self._rules:
            self._rules[key] = Partial(f"rule {installed.rule}", parts)
        yield self._rules[key]

    def _setting(self, rule: str) -> Partial:
        """Return the layer of what a rule sets, which is the same on all nodes."""
        if rule not in self._set:
            steps = self.layers.steps(self.model.rules[rule].params)
            self._set[rule] = Partial(f"rule {rule}", (), steps)
        return self._set[rule]

    def _identity(
        self, layers: Layers, definition: NodeDefinition, without: frozenset[str]
    ) -> Iterator[Partial]:
        """Yield the layers of a node's own lists, its set and its file, lowest first."""
        for use, label in reversed(definition.features):
            part = layers.feature(use, without)
            if part is not None:
                yield Partial(label, (part,))
        nodeset = definition.nodeset
        if nodeset is not None and (nodeset.definition.params or nodeset.definition.files):
            yield self._own(f"node set {nodeset.name}", nodeset.definition)
        if definition.own is not None and (definition.own.params or definition.own.files):
            yield self._own(f"node {definition.own.name}", definition.own, single=True)

    def _override(self, layers: Layers, override: Override, without: frozenset[str]) -> Partial:
        parts = layers.uses(override.features, without)
        return Partial(f"override {override.name}", parts, layers.steps(override.params), override.files)

    def _own(self, label: str, definition: Node, single: bool = False) -> Partial:
        steps = self.layers.steps(definition.params)
        return Partial(label, (), steps, definition.files, single=single)

    def _default(self, layers: Layers, without: frozenset[str]) -> Partial:
        return layers.group(self.model.settings.default_group, without) or self._nothing

    def unfiltered(self, node_class: NodeClass) -> frozenset[str]:
        """Return the feature set that a class would have without any `without`."""
        model = self.model
        names = {use.feature for use, _ in node_class.definition.features}
        default = model.groups.get(model.settings.default_group)
        for group in (default, *(model.groups[name] for name in node_class.groups)):
            names |= {use.feature for use in group.features} if group else set()
        for override in node_class.overrides:
            names |= {use.feature for use in override.features}
        for installed in node_class.effects.installs:
            names |= {use.feature for use in installed.uses}
        return self.layers.expanded(names)


def class_key(
    definition: NodeDefinition, overrides: tuple[Override, ...], facts: Iterable[str] | None
) -> Hashable:
    """Return a key that is equal for nodes that differ only in name, labels, address, and unused facts.

    `facts` are the facts in use; None: all.
    """
    nodeset, own = definition.nodeset, definition.own
    by_set = nodeset is not None and (nodeset.definition.params or nodeset.definition.files)
    by_file = own is not None and (own.params or own.files)
    return (
        tuple([ref.name for ref in definition.groups]),
        tuple([(use.feature, use.instance, id(use), label) for use, label in definition.features]),
        definition.without,
        definition.retired,
        nodeset.name if nodeset is not None and by_set else None,
        own.name if own is not None and by_file else None,
        tuple([override.name for override in overrides]),
        facts_key(definition, facts),
    )


def facts_key(definition: NodeDefinition, facts: Iterable[str] | None) -> tuple[tuple[str, str], ...]:
    """Return a node's facts that are in use; None: all."""
    known = definition.facts
    names = sorted(known) if facts is None else facts
    return tuple([(name, repr(known[name])) for name in names if name in known]) if known else ()


def _names(refs: Iterable[Ref]) -> frozenset[str]:
    return frozenset(ref.name for ref in refs)


# Classes that are not known completely, because a definition could not be understood.


def is_misread(stacks: Stacks, node_class: NodeClass) -> bool:
    """Return whether something that a class is made of could not be understood."""
    model = stacks.model
    unread = model.unread.get
    if unread("rules") or unread("allocations"):
        return True  # it is not known which nodes they concern
    groups = {model.settings.default_group, *node_class.groups}
    return bool(
        groups & unread("groups", NOWHERE)
        or stacks.unfiltered(node_class) & unread("features", NOWHERE)
        or is_half_read(model, node_class.definition)
        or any(override.name in unread("overrides", NOWHERE) for override in node_class.overrides)
    )


def is_half_read(model: Model, definition: NodeDefinition) -> bool:
    """Return whether the file of a node, or of its set, could not be understood."""
    unread, own, nodeset = model.unread.get, definition.own, definition.nodeset
    return (own is not None and own.name in unread("nodes", NOWHERE)) or (
        nodeset is not None and nodeset.name in unread("nodesets", NOWHERE)
    )
