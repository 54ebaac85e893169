"""Files below an output folder: safe paths, the folders of a path, whole files written and removed."""

import errno
import hashlib
import os
import posixpath
import stat
from contextlib import suppress
from functools import lru_cache

from gitcfg.model.names import HOST

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_HERE = frozenset(
    {
        errno.EACCES,
        errno.EBUSY,
        errno.EEXIST,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOTDIR,
        errno.ENOTEMPTY,
        errno.EPERM,
        errno.EXDEV,
    }
)


class Blocked(Exception):
    """An obstacle to one file, which stays as it is; paths begin at the node's folder."""


class Linked(Blocked):
    """An obstacle that is a link, and may lead to the file."""


def is_safe_node(name: str) -> bool:
    """Return whether a folder may have this name. Other names are findings (GC103)."""
    return HOST.fullmatch(name) is not None


@lru_cache(1 << 12)
def is_safe_path(path: str) -> bool:
    """Return whether a path stays below a node's folder. Other paths are findings (GC209)."""
    normal = path.startswith("/") and posixpath.normpath(path) == path and not path.startswith("//")
    return normal and path != "/" and path.isprintable()


@lru_cache(1 << 12)
def parent_folders(path: str) -> tuple[str, ...]:
    """Return the folders of a path, outermost first: /etc, /etc/condor."""
    parts = path.split("/")[1:-1]
    return tuple("/" + "/".join(parts[: end + 1]) for end in range(len(parts)))


class NodeFolder:
    """One node's folder."""

    def __init__(self, top: str, node: str) -> None:
        self.folder = f"{top}/{node}"
        self._sound: set[str] = set()

    def state(self, path: str) -> os.stat_result | None:
        """Return the state of the file at a path; None: there is none.

        Raise Blocked for any other obstacle.
        """
        if not all(map(self._exists, ("", *parent_folders(path)))):
            return None
        found = _state(self.folder + path)
        if found is None or stat.S_ISREG(found.st_mode):
            return found
        raise _blocked(found, path, "file")

    def make(self, path: str) -> None:
        """Create the folders of a path, and the node's own."""
        for folder in ("", *parent_folders(path)):
            if not self._exists(folder):
                os.mkdir(self.folder + folder)
                self._sound.add(folder)

    def prune(self, path: str) -> None:
        """Remove the folders of a path that are empty."""
        for folder in reversed(parent_folders(path)):
            self._drop(folder)

    def drop(self) -> None:
        """Remove the node's own folder if it is empty."""
        self._drop("")

    def _drop(self, folder: str) -> None:
        with suppress(OSError):
            os.rmdir(self.folder + folder)
            self._sound.discard(folder)

    def exists(self) -> bool:
        """Return whether the node's own folder exists."""
        return self._exists("")

    def _exists(self, folder: str) -> bool:
        """Return whether a folder exists.

        Raise Blocked if it is a link: nothing is written through a link.
        """
        if folder in self._sound:
            return True
        found = _state(self.folder + folder)
        if found is not None and not stat.S_ISDIR(found.st_mode):
            raise _blocked(found, folder, "folder")
        if found is not None:
            self._sound.add(folder)
        return found is not None


def _state(place: str) -> os.stat_result | None:
    try:
        return os.lstat(place)
    except FileNotFoundError:
        return None


def _blocked(found: os.stat_result, path: str, wanted: str) -> Blocked:
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a folder", stat.S_IFREG: "a file"}
    kind = kinds.get(stat.S_IFMT(found.st_mode), "a special file")
    error = Linked if stat.S_ISLNK(found.st_mode) else Blocked
    return error(f"{path} is {kind}, where a {wanted} is needed")


def read_content(place: str) -> bytes:
    """Return the content of a file."""
    with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        return file.read()


def hash_content(data: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(data).hexdigest()


def write_file(place: str, data: bytes, mode: int, spare: str) -> os.stat_result:
    """Write a file whole: a reader sees the old or the new content. `spare` is an unused path nearby."""
    file = os.open(spare, _FLAGS, 0o600)
    try:
        try:
            unwritten = memoryview(data)
            while unwritten:
                unwritten = unwritten[os.write(file, unwritten) :]
            os.fchmod(file, mode)
            state = os.fstat(file)
        finally:
            os.close(file)
        os.replace(spare, place)
    except OSError:
        os.unlink(spare)  # the path is reused for the next file
        raise
    return state


def describe_problem(error: Blocked | OSError, home: NodeFolder, path: str) -> str:
    """Return why a file cannot be updated.

    Raise OSError for a problem of the whole disk, such as a full one.
    """
    if isinstance(error, Blocked):
        return str(error)
    if error.errno not in _HERE:
        raise OSError(error.errno, error.strerror, home.folder + path) from error
    return f"{path}: {error.strerror}"
