"""The files: backed up, written beside their targets, exchanged by renaming, and put back."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from contextlib import suppress

from .disk import Disk, put, take
from .package import Package
from .paths import OWN_PREFIX, parent_of
from .plan import Entry, Plan
from .problems import Obstacle, StepFailed
from .standing import ABSENT, FILE, LINK, look
from .store import BACKUP, Store

_WHOLE = 1 << 40
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP)


def back_up(store: Store, plan: Plan) -> None:
    """What stands, under numbers in backup/: a second name of the same file where the file system lets it be.

    A second name costs no room, and putting it back is a rename, which a full disk does not hinder; it brings
    back times, attributes and access lists too.
    """
    store.empty(BACKUP)
    with store.folder(BACKUP) as backup:
        for number, entry in enumerate(plan.entries):
            if entry.before.kind != ABSENT:
                _save(store, entry, backup, str(number))
                _as_planned(store.disk, entry, backup, str(number))
        store.disk.sync(backup)


def _save(store: Store, entry: Entry, backup: int, number: str) -> None:
    with store.tree.folder(parent_of(entry.path)) as at:
        try:
            store.disk.link(at, _name(entry), backup, number)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            _copy(store.disk, (at, _name(entry)), (backup, number), entry)


def _as_planned(disk: Disk, entry: Entry, backup: int, number: str) -> None:
    if look(disk, backup, number) != entry.before:
        raise StepFailed("back up", f"{entry.path} was changed by somebody else in this moment.")


def _copy(disk: Disk, source: tuple[int, str], to: tuple[int, str], entry: Entry) -> None:
    before = entry.before
    if before.kind == LINK:
        disk.symlink(before.target, *to)
        return
    content = take(disk, *source, most=_WHOLE)
    put(disk, *to, content, (before.uid, before.gid), before.mode)


def prepare(store: Store, plan: Plan, package: Package, key: str) -> None:
    """Make the folders, and write every new file beside its target: the last moment for a full disk."""
    for folder in plan.folders:
        store.tree.make(folder)
    for number, entry in enumerate(plan.entries):
        if entry.after.kind == FILE:
            owner = (entry.after.uid, entry.after.gid)
            with store.tree.folder(parent_of(entry.path)) as at:
                content = package.files[entry.path].content
                put(store.disk, at, beside(key, number), content, owner, entry.after.mode)


def exchange(store: Store, plan: Plan, key: str) -> None:
    """Rename every new file to its target and remove what goes; then make that last."""
    for number, entry in enumerate(plan.entries):
        with store.tree.folder(parent_of(entry.path)) as at:
            if entry.after.kind == FILE:
                store.disk.rename(at, beside(key, number), at, _name(entry))
            else:
                store.disk.unlink(at, _name(entry))
    _sync_folders(store, plan.entries)


def restore(store: Store, plan: Plan, key: str) -> None:
    """Everything as it stood, whatever part of it was done; may be done again."""
    for number, entry in enumerate(plan.entries):
        with suppress(FileNotFoundError), store.tree.folder(parent_of(entry.path)) as at:
            store.disk.unlink(at, beside(key, number))
    for number, entry in enumerate(plan.entries):
        if store.tree.look(entry.path) != entry.before:
            _put_back(store, entry, str(number), beside(key, number))
    for folder in reversed(plan.folders):
        store.tree.remove_if_empty(folder)
    _sync_folders(store, plan.entries)


def _put_back(store: Store, entry: Entry, number: str, fresh: str) -> None:
    with store.tree.folder(parent_of(entry.path)) as at:
        if entry.before.kind == ABSENT:
            store.disk.unlink(at, _name(entry))
            return
        with store.folder(BACKUP) as backup:
            try:
                store.disk.rename(backup, number, at, _name(entry))
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                _copy(store.disk, (backup, number), (at, fresh), entry)
                store.disk.rename(at, fresh, at, _name(entry))


def still_to_restore(store: Store, plan: Plan) -> tuple[str, ...]:
    """The paths that do not stand as they did."""
    return tuple(entry.path for entry in plan.entries if not _stands(store, entry))


def _stands(store: Store, entry: Entry) -> bool:
    try:
        return store.tree.look(entry.path) == entry.before
    except (OSError, Obstacle):
        return False


def _sync_folders(store: Store, entries: Iterable[Entry]) -> None:
    for folder in sorted({parent_of(entry.path) for entry in entries}):
        with suppress(FileNotFoundError), store.tree.folder(folder) as at:
            store.disk.sync(at)


def beside(key: str, number: int) -> str:
    """The name of a new file until it takes its target's place."""
    return f"{OWN_PREFIX}{key}-{number}.new"


def _name(entry: Entry) -> str:
    return entry.path.rpartition("/")[2]
