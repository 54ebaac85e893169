"""Texts of formats that write each parameter by itself: what many files have in common is written once."""

from collections.abc import Mapping
from functools import reduce
from typing import Any
from weakref import WeakKeyDictionary

from gitcfg.compile.cell import Cell, join
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.partial import Partial
from gitcfg.model import FileEntry
from gitcfg.render.formats.format import Format, LineFormat
from gitcfg.render.taken import Taken

_MOST = 1 << 17  # pieces that are held: some 20 MiB

Written = Mapping[str, str]
"""Pieces of text by parameter, in order of name; an empty one for what a file leaves out."""


class Pieces:
    """What one kind of file entry makes of each parameter of each layer.

    A file is then its layers' pieces, the higher ones over the lower, and only what several layers say
    together is written anew. With 560 parameters that takes 0.1 ms; to put all values together, judge
    and write them is 1.9 ms.
    """

    def __init__(self, taken: Taken, chosen: LineFormat) -> None:
        self._taken = taken
        self._format = chosen
        # By identity: parts and cells are held, so that no other takes the place of one.
        self._parts: dict[int, tuple[Partial, Written]] = {}
        self._cells: dict[tuple[str | int, ...], tuple[list[Cell], str]] = {}
        self._held = 0
        self._spelled: dict[str, str] = {}
        self._alike: set[str] = set()

    def text(self, kind: NodeClass) -> str | None:
        """A class's file; None if some names may be one to the format, so that not all can be carried."""
        pieces: dict[str, str] = {}
        several: set[str] = set()
        for part in kind.parts:
            if part.open or part.pending:
                several |= (part.open & pieces.keys()) | part.pending
            pieces.update(self._part(part))
        for name in several:
            pieces[name] = self._together(kind, name)
        if self._alike and not self._alike.isdisjoint(pieces):
            return None
        return "".join(map(pieces.__getitem__, sorted(pieces)))  # a few runs in order: sorting is quick

    def _part(self, part: Partial) -> Written:
        known = self._parts.get(id(part))
        if known is None:
            cells = part.cells
            pieces = {name: self._alone(name, cells[name]) for name in sorted(cells)}
            known = self._parts[id(part)] = (part, pieces)
            self._hold(len(pieces))
        return known[1]

    def _alone(self, name: str, cell: Cell) -> str:
        if cell.value is PENDING:
            return ""  # the facts of each class decide
        known = self._cells.get((name, id(cell)))
        return known[1] if known else self._keep(name, [cell], self._taken.final(name, cell.value))

    def _together(self, kind: NodeClass, name: str) -> str:
        """What layers say of a parameter together: the same wherever the same cells meet, but for facts."""
        met = [part.cells[name] for part in kind.parts if name in part.cells]
        known = self._cells.get((name, *map(id, met)))
        if known is not None:
            return known[1]
        cell = reduce(join, met)
        value = kind.value(name, cell)
        return self._written(name, value) if cell.value is PENDING else self._keep(name, met, value)

    def _keep(self, name: str, met: list[Cell], value: Any) -> str:
        text = self._written(name, value)
        self._cells[(name, *map(id, met))] = (met, text)
        self._hold(1)
        return text

    def _hold(self, count: int) -> None:
        self._held += count
        if self._held > _MOST:
            self._parts.clear()
            self._cells.clear()
            self._held = 0

    def _written(self, name: str, value: Any) -> str:
        """What a parameter adds to a file: nothing if it is bare, not taken, or cannot be carried."""
        apart = self._taken.separators(name)
        if apart is None or value is None or value is NOTHING:
            return ""
        self._spell(name)
        values = {name: value}
        return "" if any(self._format.unfit(values, apart)) else self._format.write(values, apart)

    def _spell(self, name: str) -> None:
        first = self._spelled.setdefault(self._format.spelling(name), name)
        if first != name:
            self._alike |= {first, name}


_pieces: WeakKeyDictionary[Fleet, dict[Any, Pieces | None]] = WeakKeyDictionary()


def pieces(fleet: Fleet, chosen: Format, entry: FileEntry) -> Pieces | None:
    """The pieces of a fleet for entries of this kind, kept as long as the fleet is; None: it has none."""
    kinds = _pieces.setdefault(fleet, {})
    key = (chosen.name, entry.params, entry.tags)
    if key not in kinds:
        taken = Taken(fleet.declarations, entry)
        # Asked only once a kind, for it takes 25 us.
        kinds[key] = Pieces(taken, chosen) if isinstance(chosen, LineFormat) else None
    return kinds[key]
