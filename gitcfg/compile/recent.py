"""What was composed last: a fleet has too many classes to hold all that follows from each."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gitcfg.compile.operations import NOTHING
from gitcfg.compile.partial import Partial, stack_files
from gitcfg.model import FileEntry

if TYPE_CHECKING:
    from gitcfg.compile.classes import NodeClass

_HELD = 64
_HELD_SHARED = 512
_SHARED = 3
"""So many of the lowest layers are composed once for all classes that have them: groups have kinds."""


class Recent:
    """Composes what classes are asked for, and holds the last of each by what it is made of."""

    def __init__(self) -> None:
        self._prefix = lru_cache(_HELD_SHARED)(lambda parts: Partial(None, parts))
        self._stacks = lru_cache(_HELD)(self._stack)
        self._params = lru_cache(_HELD)(values)
        self._files: dict[tuple[int, ...], tuple[Any, Mapping[str, FileEntry]]] = {}

    def stack(self, kind: "NodeClass") -> Partial:
        """All layers of a class as one."""
        return self._stacks(kind.parts)

    def params(self, kind: "NodeClass") -> Mapping[str, Any]:
        """The final values of a class, in order of name."""
        return self._params(kind)

    def _stack(self, parts: tuple[Partial, ...]) -> Partial:
        if len(parts) <= _SHARED:
            return self._prefix(parts)
        return Partial(None, (self._prefix(parts[:_SHARED]), *parts[_SHARED:]))

    def files(self, layers: tuple[Mapping[str, FileEntry], ...]) -> Mapping[str, FileEntry]:
        """The entries that layers leave, lowest layer first, in order of path."""
        # A fleet has few combinations of file entries, so that all are held; they keep their layers alive.
        key = tuple(map(id, layers))
        if key not in self._files:
            entries = stack_files(list(layers))
            left = {path: entries[path] for path in sorted(entries) if not entries[path].removed}
            self._files[key] = (layers, left)
        return self._files[key][1]


def values(kind: "NodeClass") -> Mapping[str, Any]:
    """The final values of a class, in order of name."""
    cells = kind.stack.cells
    found = ((name, kind.value(name, cells[name])) for name in sorted(cells))
    return {name: value for name, value in found if value is not NOTHING}
