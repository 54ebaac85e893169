"""The way back of the files: everything as it stood."""

from __future__ import annotations

import errno
from contextlib import suppress

from .beside import clear, former, fresh
from .kept import set_aside
from .outcome import Outcome
from .paths import name_of, parent_of
from .place import Place
from .plan import Entry, Plan
from .problems import Obstacle
from .saving import Where, copy
from .standing import ABSENT, FILE, LINK, Standing, look
from .store import BACKUP, Store


def restore(store: Store, place: Place, plan: Plan, key: str) -> tuple[str, ...]:
    """Everything as it stood, whatever part of it was done; where what somebody wrote meanwhile is kept.

    May be done again after dying in it.
    """
    clear(store, plan, key, fresh)
    aside = []
    for number, entry in enumerate(plan.entries):
        stands = store.tree.look(entry.path)
        if stands != entry.before and not _was_put_back(store, entry, number, stands):
            aside += _set_aside(store, place, entry, stands)
            _put_back(store, entry, key, number)
    clear(store, plan, key, former)
    for folder in reversed(plan.folders):
        store.tree.remove_if_empty(folder)
    store.tree.sync(parent_of(entry.path) for entry in plan.entries)
    return tuple(aside)


def _was_put_back(store: Store, entry: Entry, number: int, stands: Standing) -> bool:
    """Whether a way back that died had put it back, and somebody has written there since: that stays.

    Putting back takes the backup away (another file system's aside). Where our new file stands without a
    backup, somebody removed that: going back then fails, and says so.
    """
    if entry.before.kind == ABSENT or stands == entry.after:
        return False
    with store.folder(BACKUP) as backup:
        return store.disk.stat(backup, str(number)) is None


def _set_aside(store: Store, place: Place, entry: Entry, stands: Standing) -> list[str]:
    """What is neither the old content nor the new; going back comes first if the disk has no room for it."""
    known = (entry.before.digest, entry.after.digest)
    if stands.kind == LINK or (stands.kind == FILE and stands.digest not in known):
        with suppress(OSError):
            return [set_aside(store, place, entry.path, stands)]
    return []


def _put_back(store: Store, entry: Entry, key: str, number: int) -> None:
    name = name_of(entry.path)
    with store.tree.folder(parent_of(entry.path)) as at:
        if entry.before.kind == ABSENT:
            store.disk.unlink(at, name)
            return
        with store.folder(BACKUP) as backup:
            try:
                store.disk.rename(backup, str(number), at, name)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                _elsewhere(store, entry, (backup, str(number)), at, key, number)


def _elsewhere(store: Store, entry: Entry, saved: Where, at: int, key: str, number: int) -> None:
    """From another file system: by the second name that it has here, else as a copy, which needs room."""
    held = former(key, number)
    if look(store.disk, at, held) != entry.before:
        held = fresh(key, number)
        copy(store.disk, saved, (at, held), entry.before)
    store.disk.rename(at, held, at, name_of(entry.path))


def still_to_restore(store: Store, plan: Plan) -> tuple[str, ...]:
    """The paths that do not stand as they did."""
    return tuple(entry.path for entry in plan.entries if not _stands(store, entry))


def with_files(outcome: Outcome, store: Store, plan: Plan | None) -> Outcome:
    """An outcome that tells what is to be written to be as it was, and what goes."""
    paths = set(still_to_restore(store, plan)) if plan is not None else set()
    some = [entry for entry in plan.entries if entry.path in paths] if plan is not None else []
    return outcome._replace(
        changed=tuple(entry.path for entry in some if entry.before.kind != ABSENT),
        removed=tuple(entry.path for entry in some if entry.before.kind == ABSENT),
    )


def _stands(store: Store, entry: Entry) -> bool:
    try:
        return store.tree.look(entry.path) == entry.before
    except (OSError, Obstacle):
        return False
