"""Staged, saved and swapped files: all that is written beside the present files, and put in their place.

After a loss of power, the disk may have any part of what was not synced, in any order. Therefore the backup,
with its own name in the state folder, is on the disk before the journal has the plan; every new file before
anything is renamed; and the renames before the journal has the next step.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from .commands import NONE, Redaction, make_redaction
from .disk import ABSENT, FILE, LARGEST, LINK, Disk, FileState, Tree, read_file, read_state, write_file
from .outcome import Obstacle, StepFailed
from .package import File, Package
from .plan import Entry, Plan
from .policy import OWN_PREFIX, folders_of, name_of, parent_of
from .store import BACKUP, KEPT, STAGED, Place, Store

# Contents of files, also with secrets, which the record does not have: from memory, or from the disk.


def find_content(store: Store, file: File) -> bytes | None:
    """Return the content that a file must have; for an unknown secret the present content, if any."""
    return file.true_content if file.true_content is not None else _read_existing(store, file.path)


def find_verified_content(store: Store, file: File) -> bytes:
    """Return the content; raise StepFailed if the file on the disk was right before and has changed."""
    content = find_content(store, file)
    if content is None or (file.true_content is None and hashlib.sha256(content).hexdigest() != file.sha256):
        raise StepFailed("write files", f"Another program changed {file.path} during the installation.")
    return content


def find_unknown(store: Store, package: Package) -> frozenset[str]:
    """Return the files whose content is secret, unknown here, and not on the disk."""
    files = (file for file in package.meant.values() if file.true_content is None)
    return frozenset(file.path for file in files if store.tree.read_state(file.path).digest != file.sha256)


def collect_redaction(
    store: Store, packages: Iterable[Package | None], plan: Plan | None = None
) -> Redaction:
    """Return the redaction of all secrets in files of some packages, on the disk or in memory."""
    files = [file for package in packages if package for file in package.meant.values() if file.hidden]
    return make_redaction(_pairs(store, files, plan)) if files else NONE


def _pairs(store: Store, files: Iterable[File], plan: Plan | None) -> Iterator[tuple[bytes, bytes]]:
    numbers = {entry.path: number for number, entry in enumerate(plan.entries)} if plan else {}
    for file in files:
        contents = [file.true_content, _read_existing(store, file.path)]
        if file.path in numbers:
            with suppress(OSError), store.folder(BACKUP) as backup:
                contents.append(_read_content(store, backup, str(numbers[file.path])))
        yield from ((file.content, content) for content in contents if content is not None)


def _read_existing(store: Store, path: str) -> bytes | None:
    with suppress(OSError, Obstacle), store.tree.folder(parent_of(path)) as at:
        return _read_content(store, at, name_of(path))
    return None


def _read_content(store: Store, at: int, name: str) -> bytes | None:
    stands = read_state(store.disk, at, name)
    return read_file(store.disk, at, name, LARGEST) if stands.kind == FILE and stands.digest else None


# The staged roots, for validate commands.

NEW, OLD = "new", "old"


def stage(
    store: Store, new: Package, old: Package | None, owners: dict[tuple[str, str], tuple[int, int]]
) -> None:
    """Write both roots, which exist only during the validation. Not synced: a crash discards them."""
    store.empty(STAGED)
    with store.folder(STAGED) as at:
        _write_root(store, at, NEW, new, owners)
        if any("{old}" in word for found in new.running.values() for word in found.validate):
            _write_root(store, at, OLD, old, owners)


def staged_command(store: Store, command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command with `{new}` and `{old}` replaced by the staged roots."""
    new, old = (os.path.join(store.path, STAGED, name) for name in (NEW, OLD))
    return tuple(word.replace("{new}", new).replace("{old}", old) for word in command)


def _write_root(
    store: Store, at: int, name: str, package: Package | None, owners: dict[tuple[str, str], tuple[int, int]]
) -> None:
    """Write a staged root. A secret file of unknown content is copied as it is, as it will stay."""
    disk = store.disk
    disk.make_folder(at, name, 0o755)
    root = disk.folder(name, at)
    try:
        tree = Tree(disk, root)
        files = package.meant if package else {}
        for folder in sorted({one for path in files for one in folders_of(path)}):
            with tree.folder(parent_of(folder)) as inside:
                disk.make_folder(inside, name_of(folder), 0o755)
        for path, file in files.items():
            content = find_content(store, file)
            if content is not None:
                with tree.folder(parent_of(path)) as inside:
                    owner = owners[file.owner, file.group]
                    write_file(disk, inside, name_of(path), content, owner, file.bits, sync=False)
    finally:
        os.close(root)


# Saving files: as a second name of the same file if the file system allows that. This needs no space, and
# restoring is a rename, which works on a full disk and also restores times, attributes and access lists.

Where = tuple[int, str]
"""An open folder and a name in it."""

NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP)


def save(store: Store, path: str, stands: FileState, to: Where) -> None:
    """Save the file at a path under another name."""
    with store.tree.folder(parent_of(path)) as at:
        try:
            store.disk.link(at, name_of(path), *to)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            copy(store.disk, (at, name_of(path)), to, stands)


def copy(disk: Disk, source: Where, to: Where, stands: FileState) -> None:
    """Copy a link or a file, with its owner and mode, and sync it."""
    if stands.kind == LINK:
        disk.symlink(stands.target, *to)
        return
    content = read_file(disk, *source, most=LARGEST)
    write_file(disk, *to, content, (stands.uid, stands.gid), stands.mode)


# Files beside a target while it is replaced: in its folder, and therefore on its file system.


def new_name(key: str, number: int) -> str:
    """Return the name of a new file until it is renamed to its target."""
    return f"{OWN_PREFIX}{key}-{number}.new"


def old_name(key: str, number: int) -> str:
    """Return a second name of the old file, for a state folder on another file system.

    The backup there is a copy, which cannot be restored to a full disk.
    """
    return f"{OWN_PREFIX}{key}-{number}.old"


def link_old(store: Store, at: int, entry: Entry, name: str) -> None:
    """Give the old file that second name, if its file system can; `at` is its folder."""
    if store.disk.device(at) == store.disk.device(store.at):
        return
    try:
        store.disk.link(at, name_of(entry.path), at, name)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise


def remove_beside(store: Store, plan: Plan, key: str, named: Callable[[str, int], str]) -> None:
    """Remove the files beside the targets (`new_name` or `old_name`) and sync, before the journal goes."""
    folders = set()
    for number, entry in enumerate(plan.entries):
        with suppress(FileNotFoundError), store.tree.folder(parent_of(entry.path)) as at:
            if store.disk.stat(at, named(key, number)) is not None:
                store.disk.unlink(at, named(key, number))
                folders.add(parent_of(entry.path))
    store.tree.sync(folders)


# Foreign files that an installation replaced or removed: kept under rising numbers.


def kept_paths(store: Store, place: Place, plan: Plan) -> tuple[str, ...]:
    """Return the paths, below the root, for the foreign files in the backup."""
    first = _next_number(_kept_files(store))
    named = [name_of(entry.path) for entry in plan.entries if entry.keep]
    return tuple(_kept_path(place, first + count, name) for count, name in enumerate(named))


def keep_backups(store: Store, plan: Plan, paths: tuple[str, ...]) -> None:
    """Move foreign files from the backup to those paths; repeatable. Extra paths are files kept before."""
    numbers = [number for number, entry in enumerate(plan.entries) if entry.keep]
    if not numbers:
        return
    with _open_kept(store) as kept, suppress(FileNotFoundError), store.folder(BACKUP) as backup:
        for number, path in zip(numbers, paths):
            with suppress(FileNotFoundError):
                store.disk.rename(backup, str(number), kept, name_of(path))
        store.disk.sync(kept)


def set_aside(store: Store, place: Place, path: str, stands: FileState) -> str:
    """Keep the present file of a path; return where."""
    with _open_kept(store) as kept:
        where = _kept_path(place, _next_number(store.disk.names(kept)), name_of(path))
        save(store, path, stands, (kept, name_of(where)))
        store.disk.sync(kept)
    return where


def prune(store: Store, most: int) -> None:
    """Remove all but the newest kept files."""
    names = sorted(_kept_files(store), key=_number)
    for name in names[: max(0, len(names) - most)]:
        with store.folder(KEPT) as kept:
            store.disk.unlink(kept, name)


@contextmanager
def _open_kept(store: Store) -> Iterator[int]:
    if not store.has(KEPT):
        store.disk.make_folder(store.at, KEPT, 0o700)
        store.disk.sync(store.at)
    with store.folder(KEPT) as kept:
        yield kept


def _kept_files(store: Store) -> list[str]:
    if not store.has(KEPT):
        return []
    with store.folder(KEPT) as kept:
        return store.disk.names(kept)


def _kept_path(place: Place, number: int, name: str) -> str:
    return f"{place.folder}/{KEPT}/{number:08d}-{name}"


def _next_number(names: list[str]) -> int:
    return max((_number(name) for name in names), default=0) + 1


def _number(name: str) -> int:
    digits = name.partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


# The file swap: files are backed up, written beside their targets, and renamed.

_STEP = "swap files"


def back_up(store: Store, plan: Plan) -> None:
    """Back up the present files, under numbers in backup/."""
    store.empty(BACKUP)
    with store.folder(BACKUP) as backup:
        for number, entry in enumerate(plan.entries):
            if entry.before.kind != ABSENT:
                save(store, entry.path, entry.before, (backup, str(number)))
                if read_state(store.disk, backup, str(number)) != entry.before:
                    raise StepFailed(
                        "back up", f"Another program changed {entry.path} during the installation."
                    )
        store.disk.sync(backup)
    store.disk.sync(store.at)


def prepare(store: Store, plan: Plan, package: Package, key: str) -> None:
    """Make the folders, and write every new file beside its target. Later, a full disk does no harm."""
    for folder in plan.folders:
        store.tree.make(folder)
    for number, entry in enumerate(plan.entries):
        with store.tree.folder(parent_of(entry.path)) as at:
            if entry.before.kind != ABSENT:
                link_old(store, at, entry, old_name(key, number))
            if entry.after.kind == FILE:
                owner = (entry.after.uid, entry.after.gid)
                content = find_verified_content(store, package.files[entry.path])
                write_file(store.disk, at, new_name(key, number), content, owner, entry.after.mode)


def exchange(store: Store, place: Place, plan: Plan, key: str) -> tuple[str, ...]:
    """Rename every new file to its target, remove old files, then sync.

    Since the backup, a command may have run for minutes: what others wrote in the meantime is kept, and its
    paths are returned.
    """
    place.listener.notify(_STEP, "begun")
    aside = []
    for number, entry in enumerate(plan.entries):
        with store.tree.folder(parent_of(entry.path)) as at:
            stands = read_state(store.disk, at, name_of(entry.path))
            if stands not in (entry.before, entry.after):
                if stands.kind not in (FILE, LINK, ABSENT):
                    raise StepFailed(
                        _STEP,
                        f"Another program made a {stands.kind} at {entry.path} during the installation.",
                    )
                if stands.kind != ABSENT:
                    aside.append(set_aside(store, place, entry.path, stands))
            if entry.after.kind == FILE:
                store.disk.rename(at, new_name(key, number), at, name_of(entry.path))
            else:
                store.disk.unlink(at, name_of(entry.path))
    store.tree.sync(parent_of(entry.path) for entry in plan.entries)
    place.listener.notify(_STEP, "done")
    return tuple(aside)
