"""A partial made from an older one: of what is nearly the same, only the difference is composed."""

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import is_
from typing import Any

from gitcfg.compile.cell import cell, join
from gitcfg.compile.operations import PENDING, Step
from gitcfg.compile.partial import Partial
from gitcfg.model import FileEntry


def updated(
    older: Partial,
    parts: tuple[Partial, ...],
    own: Mapping[str, Step],
    files: Mapping[str, FileEntry],
    features: frozenset[str] = frozenset(),
) -> Partial:
    """What `Partial` makes of these and the older one's label; that one itself if nothing is different.

    Parts and steps are the same if they are the same objects; cells that are not composed anew are too.
    """
    if len(parts) != len(older.parts):
        return Partial(older.label, parts, own, files, features)
    if own is older.own and files is older.brought and all(map(is_, older.parts, parts)):
        return older
    pairs = zip(older.parts, parts, strict=True)
    changed = set(_differing(older.own, own))
    changed.update(name for before, after in pairs for name in _differing(before.cells, after.cells))
    return _Updated(older, parts, own, files, features, changed)


class _Updated(Partial):
    """A partial that knows from the start what another one finds when it is asked."""

    def __init__(
        self,
        older: Partial,
        parts: tuple[Partial, ...],
        own: Mapping[str, Step],
        files: Mapping[str, FileEntry],
        features: frozenset[str],
        changed: set[str],
    ) -> None:
        """Compose the cells of the names that changed; the others are the older ones."""
        super().__init__(older.label, parts, own, files, features)
        cells = dict(older.cells)
        for name in changed:
            layers = [part.cells[name] for part in parts if name in part.cells]
            if name in own:
                layers.append(cell(own[name]))
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
