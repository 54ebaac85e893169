"""The file system: operations relative to an open folder, the state of a path, a tree of paths, owners."""

from __future__ import annotations

import errno
import grp
import hashlib
import os
import pwd
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from .outcome import Obstacle, Refused
from .package import File, Package
from .policy import folders_of, name_of, parent_of

CHUNK = 1 << 20

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Disk:
    """The operations on the real file system. `at` is an open folder; names have no slash."""

    changing = (
        "make_folder",
        "remove_folder",
        "create",
        "append_to",
        "write",
        "own",
        "sync",
        "truncate",
        "rename",
        "link",
        "symlink",
        "unlink",
    )
    """The methods that change the file system."""

    def folder(self, name: str, at: int | None = None) -> int:
        """Open a folder; only an outermost one, without `at`, may be reached through links."""
        if at is None:
            return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return os.open(name, _FOLDER, dir_fd=at)

    def stat(self, at: int, name: str) -> os.stat_result | None:
        """Return the stat of a name; None if there is none."""
        try:
            return os.stat(name, dir_fd=at, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self, at: int) -> list[str]:
        """Return the names in a folder, sorted."""
        return sorted(os.listdir(at))

    def open(self, at: int, name: str) -> int:
        """Open a file to read it; a FIFO does not block."""
        return os.open(name, _READ, dir_fd=at)

    def readlink(self, at: int, name: str) -> str:
        """Return the target of a link."""
        return os.readlink(name, dir_fd=at)

    def space(self, at: int) -> os.statvfs_result:
        """Return how much space is left on the file system of a folder."""
        return os.fstatvfs(at)

    def device(self, at: int) -> int:
        """Return the file system of a folder: between two of them, files can only be copied."""
        return os.fstat(at).st_dev

    def make_folder(self, at: int, name: str, mode: int) -> None:
        """Make a folder with exactly this mode, regardless of the umask."""
        os.mkdir(name, mode, dir_fd=at)
        folder = self.folder(name, at)
        try:
            os.fchmod(folder, mode)
        finally:
            os.close(folder)

    def remove_folder(self, at: int, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=at)

    def create(self, at: int, name: str) -> int:
        """Return a new file that only its owner may read, open to be written."""
        return os.open(name, _CREATE, 0o600, dir_fd=at)

    def append_to(self, at: int, name: str) -> int:
        """Return a file, new or not, open to be appended to."""
        return os.open(name, _APPEND, 0o600, dir_fd=at)

    def write(self, file: int, content: bytes) -> None:
        """Write all of the content."""
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]

    def own(self, file: int, uid: int, gid: int, mode: int) -> None:
        """Set owner, group and mode.

        The owner comes first: changing it clears bits of the mode. A process that is not root can keep its
        own owner.
        """
        found = os.fstat(file)
        if (found.st_uid, found.st_gid) != (uid, gid):
            os.fchown(file, uid, gid)
        os.fchmod(file, mode)

    def sync(self, file: int) -> None:
        """Write a file's content, or a folder's names, to the disk."""
        os.fsync(file)

    def truncate(self, file: int, size: int) -> None:
        """Cut a file to a size."""
        os.ftruncate(file, size)

    def rename(self, at: int, name: str, to: int, new: str) -> None:
        """Rename a file atomically; replace any file of the new name."""
        os.rename(name, new, src_dir_fd=at, dst_dir_fd=to)

    def link(self, at: int, name: str, to: int, new: str) -> None:
        """Make a second name for a file, or for a link itself."""
        os.link(name, new, src_dir_fd=at, dst_dir_fd=to, follow_symlinks=False)

    def symlink(self, text: str, at: int, name: str) -> None:
        """Make a symbolic link."""
        os.symlink(text, name, dir_fd=at)

    def unlink(self, at: int, name: str) -> None:
        """Remove a file or link; succeed if there is none, even on a read-only file system."""
        if self.stat(at, name) is not None:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=at)


# The state of a path.

ABSENT, FILE, LINK, FOLDER, SPECIAL = "absent", "file", "link", "folder", "special"


class FileState(NamedTuple):
    """The state of a path. `digest` is the SHA-256 of the content, "" if larger than LARGEST.

    `target` is where a link leads.
    """

    kind: str
    digest: str = ""
    mode: int = 0
    uid: int = 0
    gid: int = 0
    size: int = 0
    target: str = ""


NOTHING = FileState(ABSENT)
LARGEST = 1 << 26
"""Bytes of a file that are read, four times what a package may have: an endless file blocks nothing."""


def intended_state(file: File, owner: tuple[int, int]) -> FileState:
    """Return the state that a file must have."""
    return FileState(FILE, file.sha256, file.bits, *owner, file.size)


def read_state(disk: Disk, at: int, name: str) -> FileState:
    """Return the state of a name in an open folder."""
    found = disk.stat(at, name)
    if found is None:
        return NOTHING
    if stat.S_ISLNK(found.st_mode):
        return FileState(LINK, target=disk.readlink(at, name))
    if stat.S_ISDIR(found.st_mode):
        return FileState(FOLDER)
    if not stat.S_ISREG(found.st_mode):
        return FileState(SPECIAL)
    return _read_file_state(disk, at, name)


def _read_file_state(disk: Disk, at: int, name: str) -> FileState:
    """Return the state of a file; owner and mode are those of the opened file, and fit the content."""
    file = disk.open(at, name)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return FileState(SPECIAL)
        digest = _digest(file) if found.st_size <= LARGEST else ""
    finally:
        os.close(file)
    mode = stat.S_IMODE(found.st_mode)
    return FileState(FILE, digest, mode, found.st_uid, found.st_gid, found.st_size)


def _digest(file: int) -> str:
    digest = hashlib.sha256()
    for _ in range(LARGEST // CHUNK + 1):
        if not (part := os.read(file, CHUNK)):
            break
        digest.update(part)
    return digest.hexdigest()


class Tree:
    """An open root folder; paths are absolute below it."""

    def __init__(self, disk: Disk, root: int) -> None:
        self.disk = disk
        self.root = root

    @contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """Open a folder; "" is the root.

        Raise FileNotFoundError if the folder is missing, Obstacle if a part of the path is a link.
        """
        here = os.dup(self.root)
        try:
            walked = ""
            for name in path.split("/")[1:]:
                walked += f"/{name}"
                inside = self._enter(here, name, walked)
                os.close(here)
                here = inside
            yield here
        finally:
            os.close(here)

    def _enter(self, here: int, name: str, walked: str) -> int:
        try:
            return self.disk.folder(name, here)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                error.filename = walked  # the name alone does not say which folder it is in
                raise
        found = self.disk.stat(here, name)
        if found is not None and stat.S_ISLNK(found.st_mode):
            to = self.disk.readlink(here, name)
            raise Obstacle(
                f"{walked} is a link to {to}, and links are not followed.",
                "Write the path of the folder itself in the repository.",
            )
        raise Obstacle(f"{walked} is not a folder.")

    def read_state(self, path: str) -> FileState:
        """Return the state of a path."""
        try:
            with self.folder(parent_of(path)) as at:
                return read_state(self.disk, at, name_of(path))
        except FileNotFoundError:
            return NOTHING

    def missing_folders(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return the folders that some files need and that are missing, outermost first."""
        wanted = sorted({folder for path in paths for folder in folders_of(path)})
        return tuple(folder for folder in wanted if not self._is_there(folder))

    def _is_there(self, folder: str) -> bool:
        try:
            with self.folder(folder):
                return True
        except FileNotFoundError:
            return False

    def make(self, folder: str, mode: int = 0o755) -> None:
        """Make a folder, unless it exists; the folder above it must exist."""
        name = name_of(folder)
        with self.folder(parent_of(folder)) as at:
            if self.disk.stat(at, name) is None:
                with suppress(FileExistsError):  # another process was faster
                    self.disk.make_folder(at, name, mode)
                self.disk.sync(at)

    def sync(self, folders: Iterable[str]) -> None:
        """Sync the renames in these folders to the disk; ignore folders that no longer exist."""
        for folder in sorted(set(folders)):
            with suppress(FileNotFoundError), self.folder(folder) as at:
                self.disk.sync(at)

    def remove_if_empty(self, folder: str) -> bool:
        """Remove a folder if it is empty; return whether it is gone."""
        try:
            with self.folder(parent_of(folder)) as at:
                self.disk.remove_folder(at, name_of(folder))
                self.disk.sync(at)
        except FileNotFoundError:
            return True
        except (OSError, Obstacle):
            # Not empty, a mount point, or by now a link or file of someone else: it stays.
            return False
        return True


# Whole files and folders.


def write_file(
    disk: Disk,
    at: int,
    name: str,
    content: bytes,
    owner: tuple[int, int] | None,
    mode: int,
    sync: bool = True,
) -> None:
    """Write a new file with owner and mode, and sync it; the caller syncs its folder."""
    file = disk.create(at, name)
    try:
        disk.write(file, content)
        uid, gid = owner or (os.geteuid(), os.getegid())
        disk.own(file, uid, gid, mode)
        if sync:
            disk.sync(file)
    finally:
        os.close(file)


def read_file(disk: Disk, at: int, name: str, most: int) -> bytes:
    """Return at most `most` bytes of a file."""
    file = disk.open(at, name)
    try:
        return read_open_file(file, most)
    finally:
        os.close(file)


def read_open_file(file: int, most: int) -> bytes:
    """Return at most `most` bytes of an open file."""
    parts = []
    while most > 0 and (part := os.read(file, min(CHUNK, most))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def remove_tree(disk: Disk, at: int, name: str) -> None:
    """Remove a folder with everything in it, or a file, if it is there; links are not followed."""
    found = disk.stat(at, name)
    if found is None:
        return
    if not stat.S_ISDIR(found.st_mode):
        disk.unlink(at, name)
        return
    inside = disk.folder(name, at)
    try:
        for one in disk.names(inside):
            remove_tree(disk, inside, one)
    finally:
        os.close(inside)
    disk.remove_folder(at, name)


# Owners and groups by name on this node.

Owners = dict[tuple[str, str], tuple[int, int]]
NOBODY = (-1, -1)

_MOST = (1 << 32) - 2


def find_ids(owner: str, group: str) -> tuple[int, int]:
    """Return the numbers of a user and a group; digits are numbers themselves.

    Raise Refused if there is no such user or group.
    """
    uid = _find_id("user", owner, lambda name: pwd.getpwnam(name).pw_uid)
    return uid, _find_id("group", group, lambda name: grp.getgrnam(name).gr_gid)


def find_owners(new: Package, old: Package | None) -> Owners:
    """Return the numbers of all owners and groups. Those of the old package may no longer exist."""
    found: Owners = {}
    for file in old.meant.values() if old else ():
        found[file.owner, file.group] = NOBODY
        with suppress(Refused):
            found[file.owner, file.group] = find_ids(file.owner, file.group)
    for pair in {(file.owner, file.group) for file in new.meant.values()}:
        found[pair] = find_ids(*pair)
    return found


def find_foreign_file(package: Package) -> str:
    """Return a file whose owner or group only root could set; "" if there is none."""
    groups = {os.getegid(), *os.getgroups()}
    for path, file in sorted(package.meant.items()):
        with suppress(Refused):  # the installation reports missing users and groups
            user, group = find_ids(file.owner, file.group)
            if user != os.geteuid() or group not in groups:
                return path
    return ""


def _find_id(kind: str, name: str, look_up: Callable[[str], int]) -> int:
    if name == "root":
        return 0
    if name.isascii() and name.isdigit() and int(name) <= _MOST:
        return int(name)
    try:
        return look_up(name)
    except KeyError:
        raise Refused(f"The {kind} {name!r} does not exist on this node.") from None
