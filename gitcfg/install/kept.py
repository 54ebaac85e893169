"""What somebody else had written where an installation wrote or removed: kept under rising numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .paths import name_of
from .place import Place
from .plan import Plan
from .saving import save
from .standing import Standing
from .store import BACKUP, KEPT, Store


def kept_names(store: Store, place: Place, plan: Plan) -> tuple[str, ...]:
    """Paths below the root for what the backup holds of somebody else's."""
    first = _next(_names(store))
    named = [name_of(entry.path) for entry in plan.entries if entry.keep]
    return tuple(_path(place, first + count, name) for count, name in enumerate(named))


def keep(store: Store, plan: Plan, paths: tuple[str, ...]) -> None:
    """Out of the backup, under those names; may be done again. More paths than that are kept already."""
    numbers = [number for number, entry in enumerate(plan.entries) if entry.keep]
    if not numbers:
        return
    with _folder(store) as kept, suppress(FileNotFoundError), store.folder(BACKUP) as backup:
        for number, path in zip(numbers, paths):
            with suppress(FileNotFoundError):
                store.disk.rename(backup, str(number), kept, name_of(path))
        store.disk.sync(kept)


def set_aside(store: Store, place: Place, path: str, stands: Standing) -> str:
    """What stands at a path now, kept; where."""
    with _folder(store) as kept:
        where = _path(place, _next(store.disk.names(kept)), name_of(path))
        save(store, path, stands, (kept, name_of(where)))
        store.disk.sync(kept)
    return where


def prune(store: Store, most: int) -> None:
    """Only the newest remain."""
    names = sorted(_names(store), key=_number)
    for name in names[: max(0, len(names) - most)]:
        with store.folder(KEPT) as kept:
            store.disk.unlink(kept, name)


@contextmanager
def _folder(store: Store) -> Iterator[int]:
    if store.disk.stat(store.at, KEPT) is None:
        store.disk.make_folder(store.at, KEPT, 0o700)
        store.disk.sync(store.at)
    with store.folder(KEPT) as kept:
        yield kept


def _names(store: Store) -> list[str]:
    if store.disk.stat(store.at, KEPT) is None:
        return []
    with store.folder(KEPT) as kept:
        return store.disk.names(kept)


def _path(place: Place, number: int, name: str) -> str:
    return f"{place.folder}/{KEPT}/{number:08d}-{name}"


def _next(names: list[str]) -> int:
    return max((_number(name) for name in names), default=0) + 1


def _number(name: str) -> int:
    digits = name.partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0
