"""What was composed last: a fleet has too many classes to hold all that follows from each."""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
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


Parts = tuple[Partial, ...]


class Recent:
    """Composes what classes are asked for, and holds the last of each by what it is made of.

    It holds no class: classes hold it, and a fleet shall end with its last user.
    """

    def __init__(self) -> None:
        together = lru_cache(_HELD_SHARED)(partial(Partial, None))
        self._stacks = lru_cache(_HELD)(partial(_stack, together))
        self._params: dict[tuple[Parts, int], tuple[Any, Mapping[str, Any]]] = {}
        self._files: dict[tuple[int, ...], tuple[Any, Mapping[str, FileEntry]]] = {}

    def stack(self, kind: "NodeClass") -> Partial:
        """All layers of a class as one."""
        return self._stacks(kind.parts)

    def params(self, kind: "NodeClass") -> Mapping[str, Any]:
        """The final values of a class, in order of name."""
        facts = kind.said.facts
        key = (kind.parts, id(facts))
        found = self._params.pop(key) if key in self._params else (facts, values(kind))
        self._params[key] = found  # last again: the first has not been asked for the longest time
        if len(self._params) > _HELD:
            del self._params[next(iter(self._params))]
        return found[1]

    def files(self, layers: tuple[Mapping[str, FileEntry], ...]) -> Mapping[str, FileEntry]:
        """The entries that layers leave, lowest layer first, in order of path."""
        # A fleet has few combinations of file entries, so that all are held; they keep their layers alive.
        key = tuple(map(id, layers))
        if key not in self._files:
            entries = stack_files(list(layers))
            left = {path: entries[path] for path in sorted(entries) if not entries[path].removed}
            self._files[key] = (layers, left)
        return self._files[key][1]


def _stack(together: Callable[[Parts], Partial], parts: Parts) -> Partial:
    """Layers as one. `together` composes the lowest, or holds them composed."""
    if len(parts) <= _SHARED:
        return together(parts)
    return Partial(None, (together(parts[:_SHARED]), *parts[_SHARED:]))


def values(kind: "NodeClass") -> Mapping[str, Any]:
    """The final values of a class, in order of name."""
    cells = kind.stack.cells
    found = ((name, kind.value(name, cells[name])) for name in sorted(cells))
    return {name: value for name, value in found if value is not NOTHING}
