"""What a format may have something against: asked once of every cell and of all names together."""

from collections.abc import Mapping
from typing import Any

from gitcfg.compile.cell import Cell
from gitcfg.compile.classes import NodeClass, final
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.surface import Surface, Surfaces, Suspects
from gitcfg.model.secrets import shown
from gitcfg.render.files import separators
from gitcfg.render.formats import formats

_PLAIN = "x"
"""A value that every format can carry."""

_Key = tuple[str, int]  # of a cell, as in `Surfaces.cells`


class Carrier:
    """Which parameters of a class must be looked at before they are written in a format."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces, format: str) -> None:
        self._surfaces = surfaces
        alike = formats()[format].unfit(dict.fromkeys(surfaces.params.names, _PLAIN), {})
        self._names = surfaces.params.among({name for unfit in alike for name in unfit.subjects})
        self._cells = Suspects(surfaces, _Doubts(fleet, surfaces, format).test)

    def doubtful(self, kind: NodeClass, surface: Surface) -> list[str]:
        """The parameters of a class to be looked at: all of them if names may stand in each other's way."""
        if surface.bound & self._names:
            return list(self._surfaces.params.of(surface.bound))
        return self._cells.of(kind, surface)


class _Doubts:
    """The cells that a format may not carry, or whose values wait for facts."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces, format: str) -> None:
        self._fleet = fleet
        self._format = formats()[format]
        self._known = surfaces.cells
        self._doubted = self._among(surfaces.cells)

    def test(self, name: str, cell: Cell) -> bool:
        """Is there a doubt about a cell?"""
        key = (name, id(cell))
        return key in (self._doubted if key in self._known else self._among({key: cell}))

    def _among(self, cells: Mapping[_Key, Cell]) -> set[_Key]:
        """The doubted ones of some cells: many are asked about at once, each parameter once a round."""
        doubted: set[_Key] = set()
        rounds: list[dict[str, tuple[_Key, Any]]] = []
        counts: dict[str, int] = {}
        for key, cell in cells.items():
            value = shown(final(self._fleet.declarations, key[0], cell.value))  # as it is written
            if value is PENDING:
                doubted.add(key)
            elif value is not NOTHING and value is not None:
                number = counts[key[0]] = counts.get(key[0], -1) + 1
                if number == len(rounds):
                    rounds.append({})
                rounds[number][key[0]] = (key, value)
        for asked in rounds:
            values = {name: value for name, (_, value) in asked.items()}
            found = self._format.unfit(values, separators(self._fleet, values))
            doubted.update(asked[name][0] for unfit in found for name in unfit.subjects)
        return doubted
