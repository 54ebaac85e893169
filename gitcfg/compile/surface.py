"""The surface of a class's layers: which layer decides each parameter, as bits of all names at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import reduce
from typing import Any

import msgspec

from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.operations import NOTHING
from gitcfg.compile.partial import Cell, Partial, join


class Bits:
    """Names as bits. A name gets its bit when it is first used."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = []
        self.places: dict[str, int] = {}
        self.mask(names)

    def bit(self, name: str) -> int:
        """Return the bit of a name."""
        place = self.places.get(name)
        if place is None:
            place = self.places[name] = len(self.names)
            self.names.append(name)
        return 1 << place

    def mask(self, names: Iterable[str]) -> int:
        """Return the bits of names."""
        result = 0
        for name in names:
            result |= self.bit(name)
        return result

    def among(self, names: Iterable[str]) -> int:
        """Return the bits of those names that were used before."""
        return self.mask(name for name in names if name in self.places)

    def of(self, mask: int) -> Iterator[str]:
        """Yield the names of a mask."""
        while mask:
            lowest = mask & -mask
            yield self.names[lowest.bit_length() - 1]
            mask ^= lowest


# The surface of a class: which layer decides each parameter, for all of them at once.

_MOST_JOINS = 200_000
_NONE: Mapping[str, Cell] = {}


class Shape(msgspec.Struct, frozen=True, gc=False):
    """The parameters of a layer as bits, and its features.

    `names` are all of them; `open`, `unset` and `pending` those whose cells are open, remove a binding, or
    need facts.
    """

    names: int
    open: int
    unset: int
    pending: int
    features: int


class Surface(msgspec.Struct, frozen=True, gc=False):
    """Which layer of a class decides each parameter, as bits of parameters.

    `bound`: those that end up bound. `tops`: for each layer, lowest first, those that it alone decides;
    `joins`: those that several layers decide, with their composed cells. `pending`: those that may need
    facts. `features`: the feature set, as bits of features.
    """

    bound: int
    tops: tuple[int, ...]
    joins: Mapping[str, Cell]
    pending: int
    features: int


class Surfaces:
    """Finds surfaces. `params` and `features` map bits to names, for all names in any layer.

    `layers` are the cells of each layer of the classes, by their id.
    """

    def __init__(self, classes: Iterable[NodeClass]) -> None:
        self.params = Bits()
        self.features = Bits()
        self._shapes: dict[int, tuple[Partial, Shape]] = {}
        self._binds: dict[int, tuple[int, int, int, int]] = {}
        self.layers: dict[int, Mapping[str, Cell]] = {}
        self._joins: dict[tuple[int, int], tuple[Cell, Cell, Cell]] = {}
        for node_class in classes:
            for part in node_class.parts:
                self.shape(part)

    def shape(self, part: Partial) -> Shape:
        """Return the shape of a layer, cached."""
        known = self._shapes.get(id(part))
        if known is None:
            known = self._shapes[id(part)] = (part, self._shape(part))
        return known[1]

    def _shape(self, part: Partial) -> Shape:
        """Return the shape of a layer.

        Layers that only add a label to another one share its cells and bits.
        """
        cells = part.cells
        if id(cells) not in self._binds:
            self.layers[id(cells)] = cells
            self._binds[id(cells)] = (
                self.params.mask(cells),
                self.params.mask(part.open),
                self.params.mask(name for name, cell in cells.items() if cell.value is NOTHING),
                self.params.mask(part.pending),
            )
        return Shape(*self._binds[id(cells)], self.features.mask(part.features))

    def of(self, node_class: NodeClass) -> Surface:
        """Return the surface of a class, found from the highest layer down to closed cells."""
        covered = opened = joined = bound = pending = features = 0
        tops = []
        shapes = self._shapes
        for part in reversed(node_class.parts):
            known = shapes.get(id(part))
            shape = self.shape(part) if known is None else known[1]
            seen = shape.names & ~covered
            joined |= seen & opened
            bound |= seen & ~shape.unset
            pending |= seen & shape.pending
            opened |= seen & shape.open
            covered |= shape.names & ~shape.open
            features |= shape.features
            tops.append(seen)
        alone = ~joined
        joins = {name: self.cell(node_class, name) for name in self.params.of(joined)} if joined else _NONE
        return Surface(bound, tuple([top & alone for top in reversed(tops)]), joins, pending, features)

    def cell(self, node_class: NodeClass, name: str) -> Cell:
        """Return the composed cell of a parameter of a class; cached for classes with the same cells."""
        found = [part.cells[name] for part in node_class.parts if name in part.cells]
        return reduce(self._join, found)

    def _join(self, below: Cell, above: Cell) -> Cell:
        if above.closed:
            return above
        key = (id(below), id(above))
        known = self._joins.get(key)
        if known is None:
            if len(self._joins) >= _MOST_JOINS:
                self._joins.clear()
            known = self._joins[key] = (below, above, join(below, above))
        return known[2]


class Suspects:
    """The parameters of a layer whose cells pass a test, as bits; every cell is tested once.

    What does not pass in its layer needs no second test where that layer alone decides.
    """

    def __init__(
        self,
        surfaces: Surfaces,
        test: Callable[[str, Cell], bool],
        names: Set[str] | None = None,
        safe: Callable[[Any], bool] | None = None,
    ) -> None:
        """Only cells of `names` can pass, and no plain value that is `safe`; so most are not tested."""
        self._surfaces = surfaces
        self._test = test
        self._names = names
        # Each with its cell, which is kept so that no other object gets its id.
        self._cells: dict[tuple[str, int], tuple[Cell, bool]] = {}
        self._layers: dict[int, int] = {}
        for key, cells in surfaces.layers.items():
            asked = cells.items() if names is None else [(name, cells[name]) for name in cells.keys() & names]
            if safe is not None:
                asked = [(name, cell) for name, cell in asked if not (cell.plain and safe(cell.value))]
            passing = [name for name, cell in asked if self.cell(name, cell)]
            if passing:
                self._layers[key] = surfaces.params.mask(passing)

    def cell(self, name: str, cell: Cell) -> bool:
        """Return whether a cell passes."""
        if self._names is not None and name not in self._names:
            return False
        key = (name, id(cell))
        known = self._cells.get(key)
        if known is None:
            known = self._cells[key] = (cell, self._test(name, cell))
        return known[1]

    def of(self, node_class: NodeClass, surface: Surface) -> list[str]:
        """Return the parameters of a class whose final cells pass."""
        names: list[str] = []
        if self._layers:
            found = 0
            for part, top in zip(node_class.parts, surface.tops, strict=True):
                found |= top & self._layers.get(id(part.cells), 0)
            names += self._surfaces.params.of(found)
        if surface.joins:
            names += [name for name, cell in surface.joins.items() if self.cell(name, cell)]
        return names
