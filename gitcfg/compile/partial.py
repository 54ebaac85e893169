"""Partials: composed layers, one cell for each parameter; built once and shared."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from operator import is_
from typing import Any

import msgspec

from gitcfg.compile.operations import NOTHING, PENDING, Step, apply, fold, is_reset
from gitcfg.model import FileEntry, Op, Origin
from gitcfg.model.secrets import is_secret

MAX_WEIGHT = 4_000_000
_PLAIN = frozenset({str, int, bool, float})


class Cell(msgspec.Struct, frozen=True):
    """The composed steps of one parameter in a partial.

    `steps` are the acting ones, lowest first: from the last one that resets. `closed`: the first of them
    resets, so nothing below matters. `value` is their result on nothing. `plain`: it is one text, number or
    boolean as written, and not too long.
    """

    steps: tuple[Step, ...]
    closed: bool
    value: Any
    weight: int
    plain: bool = False

    @property
    def origins(self) -> list[Origin]:
        """The places of the acting steps, the highest first: there one would change the value."""
        return [step.origin for step in reversed(self.steps)]

    def counting(self, facts: Mapping[str, Any] | None = None) -> Iterator[Step]:
        """Yield the steps that count: all but a `$default` that finds a value. `facts` are the nodes'."""
        if len(self.steps) == 1:  # nearly all: there is no value below
            yield from self.steps
            return
        below: Any = NOTHING
        for step in self.steps:
            idle = step.op is Op.DEFAULT and below is not NOTHING and below is not None
            below = apply(step, below, facts)
            if not idle:
                yield step


def make_cell(step: Step) -> Cell:
    """Return one step as a cell."""
    if step.op is Op.SET:
        plain = type(step.given) in _PLAIN and step.weight <= MAX_WEIGHT
        return Cell((step,), True, step.given, step.weight, plain)
    return Cell((step,), is_reset(step), fold((step,), NOTHING), step.weight)


def join(below: Cell, above: Cell) -> Cell:
    """Return two cells composed. This is associative; beyond MAX_WEIGHT nothing more is added."""
    if above.closed:
        return above
    weight = below.weight + above.weight
    if weight > MAX_WEIGHT:
        return Cell(below.steps, below.closed, below.value, MAX_WEIGHT + 1)
    return Cell(below.steps + above.steps, below.closed, fold(above.steps, below.value), weight)


# Partials: composed layers, shared by reference.

NOTHING_OPEN = frozenset[str]()


class Partial:
    """A composed layer: its parts by reference, lowest first, then its own steps above them.

    `label` is the layer's element in the path of every step inside it. `cells` and `files` have the values;
    `parts`, `own` and `own_files` show where these come from. The rest is computed when it is used: of most
    stacks only one thing ever is.
    """

    def __init__(
        self,
        label: str | None,
        parts: tuple["Partial", ...] = (),
        own: Mapping[str, Step] | None = None,
        files: Mapping[str, FileEntry] | None = None,
        named: frozenset[str] = frozenset(),
        single: bool = False,
    ) -> None:
        """`named` are the features whose own layer this is; `single`: only one node has it."""
        self.label = label
        self.parts = parts
        self.own: Mapping[str, Step] = own or {}
        self.own_files: Mapping[str, FileEntry] = files or {}
        self.named = named
        self.single = single

    @cached_property
    def cells(self) -> Mapping[str, Cell]:
        """The cell of each parameter."""
        layers = [(part.cells, part.open) for part in self.parts]
        if self.own:
            cells = {name: make_cell(step) for name, step in self.own.items()}
            layers.append((cells, find_open(cells)))
        return compose(layers)

    @cached_property
    def open(self) -> frozenset[str]:
        """The parameters whose cells are not closed, so that layers below matter."""
        opened = self.own.keys() | NOTHING_OPEN.union(*(part.open for part in self.parts))
        return frozenset(name for name in opened if not self.cells[name].closed)

    @cached_property
    def pending(self) -> frozenset[str]:
        """The parameters whose values need facts."""
        asked = self.own.keys() | NOTHING_OPEN.union(*(part.pending for part in self.parts))
        return frozenset(name for name in asked if self.cells[name].value is PENDING)

    @cached_property
    def secret(self) -> frozenset[str]:
        """The parameters whose values are secrets."""
        own = (name for name, step in self.own.items() if step.op is Op.SECRET)
        asked = NOTHING_OPEN.union(own, *(part.secret for part in self.parts))
        return frozenset(name for name in asked if is_secret(self.cells[name].value))

    @cached_property
    def files(self) -> Mapping[str, FileEntry]:
        """File entries by path."""
        return stack_files([*(part.files for part in self.parts), self.own_files])

    @cached_property
    def features(self) -> frozenset[str]:
        """The features whose layers are in here."""
        return self.named.union(*(part.features for part in self.parts))

    @cached_property
    def places(self) -> int:
        """The number of layers in here; a layer at several places counts at each."""
        return 1 + sum(part.places for part in self.parts)

    def steps(self, name: str) -> Iterator[tuple[Step, tuple[str, ...]]]:
        """Yield every step that binds a parameter, lowest first, with its path, innermost first."""
        for layer, path in self._layers(lambda part: name in part.cells):
            if name in layer.own:
                yield layer.own[name], path

    def entries(self, path: str) -> Iterator[tuple[FileEntry, tuple[str, ...]]]:
        """Yield every entry for a file, lowest first, with the path of its layer."""
        for layer, where in self._layers(lambda part: path in part.files):
            if path in layer.own_files:
                yield layer.own_files[path], where

    def paths(self, feature: str) -> Iterator[tuple[str, ...]]:
        """Yield the path of each layer of a feature in here, lowest first; a path begins with the feature."""
        label = f"feature {feature}"
        for layer, path in self._layers(lambda part: feature in part.features):
            if layer.label == label:
                yield path

    def _layers(self, holds: Callable[["Partial"], bool]) -> Iterator[tuple["Partial", tuple[str, ...]]]:
        """Yield the layers in here whose parts pass a test, lowest first, each with its path."""
        above = () if self.label is None else (self.label,)
        for part in self.parts:
            if holds(part):
                for layer, path in part._layers(holds):
                    yield layer, path + above
        yield self, above


def find_open(cells: Mapping[str, Cell]) -> frozenset[str]:
    """Return the names of cells that are not closed."""
    return frozenset(name for name in cells if not cells[name].closed)


def compose(layers: Sequence[tuple[Mapping[str, Cell], frozenset[str]]]) -> Mapping[str, Cell]:
    """Return the cells of layers composed. The layers are given lowest first, with the names of open cells.

    Closed cells replace those below in one dictionary update; only open ones are composed one by one.
    """
    filled = [layer for layer in layers if layer[0]]
    if len(filled) == 1:
        return filled[0][0]
    result: dict[str, Cell] = {}
    for cells, opened in filled:
        joined = {name: join(result[name], cells[name]) for name in opened if name in result}
        result.update(cells)
        result.update(joined)
    return result


def stack_files(layers: list[Mapping[str, FileEntry]]) -> Mapping[str, FileEntry]:
    """Return file entries by path; a higher layer's entry replaces a lower one's."""
    filled = [layer for layer in layers if layer]
    if len(filled) == 1:
        return filled[0]
    result: dict[str, FileEntry] = {}
    for layer in filled:
        result.update(layer)
    return result


# A partial made from a similar older one: only the differences are composed.


def update_partial(
    older: Partial,
    parts: tuple[Partial, ...],
    own: Mapping[str, Step],
    files: Mapping[str, FileEntry],
    features: frozenset[str] = frozenset(),
) -> Partial:
    """Return what `Partial` makes of these arguments and the older label; the older one if nothing differs.

    Parts and steps are compared by identity; cells that are not composed again are the same objects.
    """
    if len(parts) != len(older.parts):
        return Partial(older.label, parts, own, files, features)
    if own is older.own and files is older.own_files and all(map(is_, older.parts, parts)):
        return older
    pairs = zip(older.parts, parts, strict=True)
    changed = set(_differing(older.own, own))
    changed.update(name for before, after in pairs for name in _differing(before.cells, after.cells))
    return _Updated(older, parts, own, files, features, changed)


class _Updated(Partial):
    """A partial whose cells are computed by the constructor."""

    def __init__(
        self,
        older: Partial,
        parts: tuple[Partial, ...],
        own: Mapping[str, Step],
        files: Mapping[str, FileEntry],
        features: frozenset[str],
        changed: set[str],
    ) -> None:
        """Compose the cells of the names that changed; the others are those of the older partial."""
        super().__init__(older.label, parts, own, files, features)
        cells = dict(older.cells)
        for name in changed:
            layers = [part.cells[name] for part in parts if name in part.cells]
            if name in own:
                layers.append(make_cell(own[name]))
            if layers:
                cells[name] = reduce(join, layers)
            else:
                cells.pop(name, None)
        known = {name: cells[name] for name in changed if name in cells}
        self.cells = cells
        self.open = older.open - changed | {name for name, found in known.items() if not found.closed}
        self.pending = older.pending - changed | {
            name for name, found in known.items() if found.value is PENDING
        }


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before is after:
        return
    for name, found in after.items():
        if before.get(name) is not found:
            yield name
    yield from before.keys() - after.keys()
