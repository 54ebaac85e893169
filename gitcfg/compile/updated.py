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
    result = Partial(older.label, parts, own, files, features)
    _compose(result, older, changed)
    return result


def _compose(result: Partial, older: Partial, changed: set[str]) -> None:
    """The cells of the names that may be different; the others are the older ones."""
    cells = dict(older.cells)
    for name in changed:
        layers = [part.cells[name] for part in result.parts if name in part.cells]
        if name in result.own:
            layers.append(cell(result.own[name]))
        if layers:
            cells[name] = reduce(join, layers)
        else:
            cells.pop(name, None)
    known = {name: cells[name] for name in changed if name in cells}
    # These are what the partial would find itself if it were asked.
    opened = older.open - changed | {name for name, found in known.items() if not found.closed}
    pending = older.pending - changed | {name for name, found in known.items() if found.value is PENDING}
    vars(result).update(cells=cells, open=opened, pending=pending)


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before is after:
        return
    for name, found in after.items():
        if before.get(name) is not found:
            yield name
    yield from before.keys() - after.keys()
