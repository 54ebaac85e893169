"""Recovering from an interrupted installation; the code for it is imported only where there was one."""

from __future__ import annotations

from .outcome import Outcome
from .store import BACKUP, JOURNAL, STAGED, Place, Store, hold_lock, open_store


def recover(place: Place) -> Outcome | None:
    """Finish or roll back an installation that died; return its outcome, None if there was none."""
    with open_store(place) as store, hold_lock(store, place):
        return recover_locked(store, place)


def recover_locked(store: Store, place: Place) -> Outcome | None:
    """Finish or roll back an installation that died, with the lock held; None if there was none."""
    if all(store.disk.stat(store.at, name) is None for name in (JOURNAL, STAGED, BACKUP)):
        return None
    from .recovery import recover_interrupted

    return recover_interrupted(store, place)
