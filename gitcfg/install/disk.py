"""Every operation on the file system, one method each, relative to an open folder, following no links.

Tests subclass it to die, or to have a disk that is full, at any of them.
"""

from __future__ import annotations

import os
from contextlib import suppress

CHUNK = 1 << 20

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Disk:
    """The real one. `at` is an open folder; names have no slash."""

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
    """The methods that change something."""

    def folder(self, name: str, at: int | None = None) -> int:
        """Open a folder; only an outermost one, without `at`, may be reached through links."""
        if at is None:
            return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return os.open(name, _FOLDER, dir_fd=at)

    def stat(self, at: int, name: str) -> os.stat_result | None:
        """What stands there; None for nothing."""
        try:
            return os.stat(name, dir_fd=at, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def names(self, at: int) -> list[str]:
        """What a folder holds, in order."""
        return sorted(os.listdir(at))

    def open(self, at: int, name: str) -> int:
        """Open a file to read it; a FIFO does not block."""
        return os.open(name, _READ, dir_fd=at)

    def readlink(self, at: int, name: str) -> str:
        """Where a link leads."""
        return os.readlink(name, dir_fd=at)

    def space(self, at: int) -> os.statvfs_result:
        """What the file system of a folder has left."""
        return os.fstatvfs(at)

    def device(self, at: int) -> int:
        """The file system that a folder is on: between two, files can only be copied."""
        return os.fstat(at).st_dev

    def make_folder(self, at: int, name: str, mode: int) -> None:
        """A new folder with exactly that mode, whatever the umask."""
        os.mkdir(name, mode, dir_fd=at)
        made = self.folder(name, at)
        try:
            os.fchmod(made, mode)
        finally:
            os.close(made)

    def remove_folder(self, at: int, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=at)

    def create(self, at: int, name: str) -> int:
        """A new file that only its owner may read, open to be written."""
        return os.open(name, _CREATE, 0o600, dir_fd=at)

    def append_to(self, at: int, name: str) -> int:
        """A file, new or not, open to be appended to."""
        return os.open(name, _APPEND, 0o600, dir_fd=at)

    def write(self, file: int, content: bytes) -> None:
        """All of the content."""
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]

    def own(self, file: int, uid: int, gid: int, mode: int) -> None:
        """Owner first: changing it clears bits of the mode. Who is not root may keep what is its own."""
        found = os.fstat(file)
        if (found.st_uid, found.st_gid) != (uid, gid):
            os.fchown(file, uid, gid)
        os.fchmod(file, mode)

    def sync(self, file: int) -> None:
        """A file's content, or a folder's names, on the disk."""
        os.fsync(file)

    def truncate(self, file: int, size: int) -> None:
        """Only the beginning of a file."""
        os.ftruncate(file, size)

    def rename(self, at: int, name: str, to: int, new: str) -> None:
        """Atomically, in the place of what stands there."""
        os.rename(name, new, src_dir_fd=at, dst_dir_fd=to)

    def link(self, at: int, name: str, to: int, new: str) -> None:
        """A second name for a file, or for a link itself."""
        os.link(name, new, src_dir_fd=at, dst_dir_fd=to, follow_symlinks=False)

    def symlink(self, text: str, at: int, name: str) -> None:
        """A link."""
        os.symlink(text, name, dir_fd=at)

    def unlink(self, at: int, name: str) -> None:
        """Remove a file or link; nothing there is well too, also where nothing could be removed."""
        if self.stat(at, name) is not None:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=at)
