"""A text of all final values of a class, put together from pieces that layers share."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from gitcfg.compile.cell import Cell, join
from gitcfg.compile.classes import NodeClass, final
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.partial import Partial

MOST = 1 << 17
"""Pieces that are held: some 20 MiB."""
Written = Mapping[str, str]
"""Pieces of text by parameter; an empty one for what adds nothing."""

_ABSENT = ""


class Splicer:
    """Makes a text of each value once for a layer, and of each class one of its layers' texts.

    The higher layers' lie over the lower, and only what several layers say together is made anew. What is
    not bound, or waits for facts, is empty. Dictionaries that begin with all names in order are copied and
    updated whole, which spares sorting: 10,000 classes of 560 parameters are spliced in 0.6 s, where
    composing, sorting and writing each value takes 2.5 s.
    """

    def __init__(self, declarations: Declarations, piece: Callable[[str, Any], str]) -> None:
        self._declarations = declarations
        self._piece = piece
        self._ordered: dict[str, str] = {}
        # By identity: layers and cells are held, so that no other takes the place of one.
        self._layers: dict[int, tuple[Mapping[str, Cell], Written]] = {}
        self._cells: dict[tuple[object, ...], tuple[list[Cell], str]] = {}
        self._held = 0

    def pieces(self, kind: NodeClass) -> Written:
        """The pieces of a class in order of their parameters' names, which may be more than it binds."""
        layers = [self._of_layer(part.cells) for part in kind.parts]
        result = self._ordered.copy()
        for layer in layers:
            result.update(layer)
        for name in _together(kind.parts):
            result[name] = self._of_several(kind, name)
        return result

    def text(self, kind: NodeClass) -> str:
        """The pieces of a class, one after another."""
        return "".join(self.pieces(kind).values())

    def _of_layer(self, cells: Mapping[str, Cell]) -> Written:
        """A layer's pieces. Layers that merely name another one have its cells."""
        known = self._layers.get(id(cells))
        if known is None:
            self._hold(len(cells))
            known = self._layers[id(cells)] = (cells, {name: self._of(name, [cells[name]]) for name in cells})
            if not cells.keys() <= self._ordered.keys():
                self._ordered = dict.fromkeys(sorted(self._ordered.keys() | cells.keys()), _ABSENT)
        return known[1]

    def _of_several(self, kind: NodeClass, name: str) -> str:
        """What layers say of a parameter together: the same wherever the same cells meet, but for facts."""
        met = [part.cells[name] for part in kind.parts if name in part.cells]
        cell = reduce(join, met)
        if cell.value is PENDING:
            return self._made(name, kind.value(name, cell))
        return self._of(name, met)

    def _of(self, name: str, met: list[Cell]) -> str:
        """The piece of cells that meet, shared as they are: fewer texts stay in the processor's cache."""
        key = (name, *map(id, met))
        known = self._cells.get(key)
        if known is None:
            value = final(self._declarations, name, reduce(join, met).value)
            known = self._cells[key] = (met, self._made(name, value))
            self._hold(1)
        return known[1]

    def _made(self, name: str, value: Any) -> str:
        return _ABSENT if value is NOTHING or value is PENDING else self._piece(name, value)

    def _hold(self, count: int) -> None:
        self._held += count
        if self._held > MOST:
            self._layers.clear()
            self._cells.clear()
            self._held = 0


def _together(parts: Iterable[Partial]) -> set[str]:
    """The parameters about which a layer does not decide alone, or only with facts."""
    result: set[str] = set()
    below: list[Mapping[str, Cell]] = []
    for part in parts:
        if part.open:
            result.update(name for name in part.open if any(name in cells for cells in below))
        result |= part.pending
        below.append(part.cells)
    return result
