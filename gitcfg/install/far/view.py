"""The state folder as it is, with nothing made: for who only looks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..lock import NAME as LOCK
from ..owed import in_force
from ..paths import parent_of
from ..place import Place
from ..record import Record
from ..store import JOURNAL, Store, opened
from ..tree import Tree


@contextmanager
def viewed(place: Place) -> Iterator[tuple[Store, bool]]:
    """The store, and whether it is there; else its place is taken by the nearest folder that is.

    Refused as `opened` is.
    """
    top = os.path.abspath(place.root)
    root = place.disk.folder(top)
    try:
        tree = Tree(place.disk, root)
        if not tree.missing_folders([f"{place.folder}/x"]):
            with opened(place) as store:
                yield store, True
            return
        nearest = place.folder
        while tree.missing_folders([f"{nearest}/x"]):
            nearest = parent_of(nearest)
        with tree.folder(nearest) as at:
            yield Store(place.disk, tree, at, os.path.join(top, place.folder[1:])), False
    finally:
        os.close(root)


def record_of(store: Store, there: bool) -> Record:
    """What is in force, and what it owes."""
    return in_force(store) if there else Record()


def holder(store: Store, name: str = LOCK) -> str:
    """Who has a lock, or nothing."""
    import fcntl

    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=store.at)
    except OSError:
        return ""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.pread(file, 200, 0).decode(errors="replace") or "somebody"
    finally:
        os.close(file)
    return ""


def interrupted(store: Store) -> bool:
    """Whether an installation died here; one that is at work looks the same."""
    return store.disk.stat(store.at, JOURNAL) is not None
