"""A text of all that a class has, put together from pieces that layers share."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from gitcfg.compile.cell import Cell
from gitcfg.compile.classes import NodeClass, final
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.partial import Partial
from gitcfg.compile.surface import Surface

_SHARED = 2  # so many of the lowest layers are laid over each other once for all classes that have them
_HELD = 256
_ABSENT = ""


class _Overlay:
    """Lays layers' pieces over each other, by name and in order of name. What no layer has is empty.

    Dictionaries that begin with all names in order are copied and updated whole: that spares sorting.
    """

    def __init__(self, names: Iterable[str], pieces: Callable[[Partial], Mapping[str, str]]) -> None:
        self._ordered = dict.fromkeys(sorted(names), _ABSENT)
        self._pieces = pieces
        self._below = lru_cache(_HELD)(lambda parts: self._over(self._ordered, parts))

    def lay(self, parts: tuple[Partial, ...]) -> dict[str, str]:
        """The pieces of some layers, lowest first."""
        return self._over(self._below(parts[:_SHARED]), parts[_SHARED:])

    def _over(self, below: dict[str, str], parts: tuple[Partial, ...]) -> dict[str, str]:
        result = below.copy()
        for part in parts:
            result.update(self._pieces(part))
        return result


class Splicer:
    """Makes a text of each value and feature once for a layer, and of each class one of those texts.

    10,000 classes of 560 parameters are spliced in 0.6 s, where composing and sorting them takes 1.9 s.
    """

    def __init__(self, fleet: Fleet, value: Callable[[str, Any], str], feature: Callable[[str], str]) -> None:
        self._fleet = fleet
        self._plain = fleet.surfaces.plain()
        self._value = value
        self._feature = feature
        self._values = _Overlay(fleet.surfaces.params.names, self._values_of)
        self._features = _Overlay(fleet.surfaces.features.names, self._features_of)
        self._known: dict[int, tuple[Mapping[str, Cell], Mapping[str, str]]] = {}
        self._texts: dict[tuple[str, int], str] = {}
        self._named: dict[frozenset[str], Mapping[str, str]] = {}

    def features(self, kind: NodeClass) -> str:
        """The texts of a class's features, in order of name."""
        return "".join(self._features.lay(kind.parts).values())

    def values(self, kind: NodeClass, surface: Surface | None = None) -> str:
        """The texts of a class's final values, in order of name. `surface` is its own, if it is known."""
        result = self._values.lay(kind.parts)
        if self._plain:
            return "".join(result.values())
        surface = surface or self._fleet.surfaces.of(kind)
        for name, cell in surface.joins.items():
            result[name] = self._text(name, kind.value(name, cell))
        for name in self._fleet.surfaces.params.of(surface.pending):
            cell = self._fleet.surfaces.cell(kind, name)
            result[name] = self._text(name, kind.value(name, cell))
        return "".join(result.values())

    def _values_of(self, part: Partial) -> Mapping[str, str]:
        cells = part.cells
        known = self._known.get(id(cells))
        if known is None:
            known = self._known[id(cells)] = (cells, {name: self._of(name, cells[name]) for name in cells})
        return known[1]

    def _of(self, name: str, cell: Cell) -> str:
        """A cell's text, shared as the cell is: fewer texts stay in the processor's cache."""
        key = (name, id(cell))
        if key not in self._texts:
            self._texts[key] = self._text(name, final(self._fleet.declarations, name, cell.value))
        return self._texts[key]

    def _text(self, name: str, value: Any) -> str:
        """A value's text; what waits for facts has none yet."""
        return _ABSENT if value is NOTHING or value is PENDING else self._value(name, value)

    def _features_of(self, part: Partial) -> Mapping[str, str]:
        if part.features not in self._named:
            self._named[part.features] = {name: self._feature(name) for name in part.features}
        return self._named[part.features]
