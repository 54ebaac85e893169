"""Staged, saved and exchanged files: everything that is written beside what stands, and put in its place.

After a loss of power the disk may hold any part of what was not synced, in any order. So: the backup, with
its own name in the state folder, is on the disk before the journal has the plan; every new file before
anything is renamed; and the renamings before the journal says what comes next.
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

# Contents, of files with secrets too: the record does not have those. From memory, or as they stand.


def find_content(store: Store, file: File) -> bytes | None:
    """Return the content that a file must have; of an unknown secret one what stands, if anything."""
    return file.true_content if file.true_content is not None else _read_existing(store, file.path)


def find_verified_content(store: Store, file: File) -> bytes:
    """Return the content; raise StepFailed if what stands, which was right before, has changed."""
    content = find_content(store, file)
    if content is None or (file.true_content is None and hashlib.sha256(content).hexdigest() != file.sha256):
        raise StepFailed("write files", f"Another program changed {file.path} during the installation.")
    return content


def find_unknown(store: Store, package: Package) -> frozenset[str]:
    """Return the files whose content is secret, unknown here, and not what stands."""
    files = (file for file in package.meant.values() if file.true_content is None)
    return frozenset(file.path for file in files if store.tree.read_state(file.path).digest != file.sha256)


def collect_redaction(
    store: Store, packages: Iterable[Package | None], plan: Plan | None = None
) -> Redaction:
    """Return the redaction of all that secret files of some packages hold, here or in memory."""
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


# The staged roots, for commands that validate.

NEW, OLD = "new", "old"


def stage(
    store: Store, new: Package, old: Package | None, owners: dict[tuple[str, str], tuple[int, int]]
) -> None:
    """Write both roots, which stand only while they are validated. Not synced: a crash throws them away."""
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
    """A secret file whose content is not known is there as it stands: so it will stand beside the others."""
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


# Saving what stands: as a second name of the same file where the file system allows that. It costs no room,
# and putting it back is a rename, which a full disk does not hinder; it brings back times, attributes and
# access lists too.

Where = tuple[int, str]
"""An open folder and a name in it."""

NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP)


def save(store: Store, path: str, stands: FileState, to: Where) -> None:
    """What stands at a path, also there."""
    with store.tree.folder(parent_of(path)) as at:
        try:
            store.disk.link(at, name_of(path), *to)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            copy(store.disk, (at, name_of(path)), to, stands)


def copy(disk: Disk, source: Where, to: Where, stands: FileState) -> None:
    """A link or a file anew, with its owner and mode, on the disk."""
    if stands.kind == LINK:
        disk.symlink(stands.target, *to)
        return
    content = read_file(disk, *source, most=LARGEST)
    write_file(disk, *to, content, (stands.uid, stands.gid), stands.mode)


# Files beside a target while it is replaced: in its folder, and so on its file system.


def new_name(key: str, number: int) -> str:
    """Return the name of a new file until it takes its target's place."""
    return f"{OWN_PREFIX}{key}-{number}.new"


def old_name(key: str, number: int) -> str:
    """Return a second name of what stood, where the state folder is on another file system.

    What is backed up there is a copy, which a full disk does not take back.
    """
    return f"{OWN_PREFIX}{key}-{number}.old"


def link_old(store: Store, at: int, entry: Entry, name: str) -> None:
    """Give what stands that second name, where its file system can; `at` is its folder."""
    if store.disk.device(at) == store.disk.device(store.at):
        return
    try:
        store.disk.link(at, name_of(entry.path), at, name)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise


def remove_beside(store: Store, plan: Plan, key: str, named: Callable[[str, int], str]) -> None:
    """Remove the files beside the targets (`new_name` or `old_name`) for good: next the journal goes."""
    folders = set()
    for number, entry in enumerate(plan.entries):
        with suppress(FileNotFoundError), store.tree.folder(parent_of(entry.path)) as at:
            if store.disk.stat(at, named(key, number)) is not None:
                store.disk.unlink(at, named(key, number))
                folders.add(parent_of(entry.path))
    store.tree.sync(folders)


# Files of somebody else that an installation replaced or removed: kept under rising numbers.


def kept_paths(store: Store, place: Place, plan: Plan) -> tuple[str, ...]:
    """Paths below the root for what the backup holds of somebody else's."""
    first = _next_number(_kept_files(store))
    named = [name_of(entry.path) for entry in plan.entries if entry.keep]
    return tuple(_kept_path(place, first + count, name) for count, name in enumerate(named))


def keep_backups(store: Store, plan: Plan, paths: tuple[str, ...]) -> None:
    """Out of the backup, under those names; may be done again. More paths than that are kept already."""
    numbers = [number for number, entry in enumerate(plan.entries) if entry.keep]
    if not numbers:
        return
    with _open_kept(store) as kept, suppress(FileNotFoundError), store.folder(BACKUP) as backup:
        for number, path in zip(numbers, paths):
            with suppress(FileNotFoundError):
                store.disk.rename(backup, str(number), kept, name_of(path))
        store.disk.sync(kept)


def set_aside(store: Store, place: Place, path: str, stands: FileState) -> str:
    """Return what stands at a path now, kept; where."""
    with _open_kept(store) as kept:
        where = _kept_path(place, _next_number(store.disk.names(kept)), name_of(path))
        save(store, path, stands, (kept, name_of(where)))
        store.disk.sync(kept)
    return where


def prune(store: Store, most: int) -> None:
    """Only the newest remain."""
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


# Exchanging files: backed up, written beside their targets, renamed.

_STEP = "swap files"


def back_up(store: Store, plan: Plan) -> None:
    """What stands, under numbers in backup/."""
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
    """Make the folders, and write every new file beside its target: the last moment for a full disk."""
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
    """Rename every new file to its target and remove what goes; then make that last.

    Since they were backed up, a command may have run for minutes: what somebody wrote meanwhile is set aside,
    and the paths of that are returned.
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
