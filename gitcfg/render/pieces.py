"""Texts of formats that write each parameter by itself: what many files have in common is written once."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.splice import Splicer, Written
from gitcfg.model import FileEntry
from gitcfg.model.secrets import shown
from gitcfg.render.formats.format import Format, LineFormat
from gitcfg.render.taken import Taken

Notice = Callable[[str, Any, str, str | None], object]
"""Told of each piece: the parameter, its value as it is shown, the text, and how its lists are separated."""
Show = Callable[[Any], Any]
"""What is written of a value: itself, but for a secret."""


class Pieces:
    """What one kind of file entry makes of each parameter of each layer, and so of a class."""

    def __init__(
        self,
        fleet: Fleet,
        entry: FileEntry,
        chosen: LineFormat,
        notice: Notice | None = None,
        show: Show = shown,
    ) -> None:
        self._writer = _Writer(fleet, entry, chosen, notice, show)
        self._splicer = Splicer(fleet.declarations, self._writer.write)

    def of(self, kind: NodeClass) -> Written | None:
        """A class's file in pieces; None if names may be one to the format: it cannot carry all."""
        pieces = self._splicer.pieces(kind)
        return None if any(pieces.get(name) for name in self._writer.alike) else pieces

    def text(self, kind: NodeClass) -> str | None:
        """The pieces of a class, one after another."""
        pieces = self.of(kind)
        return None if pieces is None else "".join(pieces.values())


class _Writer:
    """Writes one parameter at a time. `alike` are those that had spellings of others."""

    def __init__(
        self, fleet: Fleet, entry: FileEntry, chosen: LineFormat, notice: Notice | None, show: Show
    ) -> None:
        self.alike: set[str] = set()
        self._taken = Taken(fleet.declarations, entry)
        self._format = chosen
        self._notice = notice
        self._show = show
        self._spelled: dict[str, str] = {}

    def write(self, name: str, value: Any) -> str:
        """What a parameter adds to a file: nothing if it is bare, not taken, or cannot be carried."""
        apart = self._taken.separators(name)
        if apart is None or value is None:
            return ""
        self._spell(name)
        value = self._show(value)
        values = {name: value}
        if any(self._format.unfit(values, apart)):
            return ""
        text = self._format.write(values, apart)
        if self._notice is not None:
            self._notice(name, value, text, apart[name])
        return text

    def _spell(self, name: str) -> None:
        first = self._spelled.setdefault(self._format.spelling(name), name)
        if first != name:
            self.alike |= {first, name}


_pieces: WeakKeyDictionary[Fleet, dict[Any, Pieces | None]] = WeakKeyDictionary()


def pieces(fleet: Fleet, chosen: Format, entry: FileEntry) -> Pieces | None:
    """The pieces of a fleet for entries of this kind, kept as long as the fleet is; None: it has none."""
    kinds = _pieces.setdefault(fleet, {})
    key = (chosen.name, entry.params, entry.tags)
    if key not in kinds:
        # Asked only once a kind, for it takes 25 us.
        kinds[key] = Pieces(fleet, entry, chosen) if isinstance(chosen, LineFormat) else None
    return kinds[key]
