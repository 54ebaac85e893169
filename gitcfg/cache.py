"""A cache of answers beside a repository's objects: each is checked, and all are safe to delete.

An answer counts only if the same program wrote it, the user owns its file, and its checksum is right. Errors
of a cache are not reported: then there is no answer, or it is not saved.
"""

import contextlib
import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import msgspec

import gitcfg

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository

T = TypeVar("T")


class Cache(Protocol):
    """Answers by question. A question names all that its answer depends on, and the answer's form."""

    def get(self, question: str, kind: type[T]) -> T | None:
        """Return the saved answer to a question; None if there is none.

        Parts of the type `msgspec.Raw` or memoryview are not copied.
        """
        ...

    def put(self, question: str, answer: Any) -> None:
        """Save an answer of any type that msgspec encodes; replace an older one to the same question."""
        ...


class SpillingCache(Cache, Protocol):
    """A cache that forgets new answers unless `spill` is called."""

    def spill(self) -> None:
        """Write the new answers, for later runs."""
        ...


class NoCache:
    """A cache that saves nothing."""

    def spill(self) -> None:
        pass

    def get(self, question: str, kind: type[T]) -> T | None:
        return None

    def put(self, question: str, answer: Any) -> None:
        pass


def open_cache(repository: "Repository", user: int) -> Cache:
    """Open a user's cache for a repository: one for all its work trees, none without git."""
    if repository.shared is None:
        return NoCache()
    return FolderCache(repository.shared / "gitcfg", user)


def open_read_only(repository: "Repository", user: int) -> SpillingCache:
    """Open the cache if nothing may be written: new answers stay in memory unless they are spilled."""
    if repository.shared is None:
        return NoCache()
    return Scratch(FolderCache(repository.shared / "gitcfg", user, notes=False))


@cache
def program_id() -> str:
    """Return the program's version and when its files last changed: during development, the version stays.

    Reading the times of 500 files takes 2 ms.
    """
    try:
        newest = max(_modification_times(os.path.dirname(gitcfg.__file__)), default=0)
    except OSError:  # the program is in an archive
        newest = 0
    return f"{gitcfg.__version__} {newest}"


def _modification_times(folder: str) -> Iterator[int]:
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from () if entry.name == "__pycache__" else _modification_times(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.stat().st_mtime_ns


_SIZES = struct.Struct(">LQ")
_SUM = struct.Struct(">L")


@cache
def _header() -> bytes:
    """Return the begin of a file: its format and program. A file of another program is not decoded."""
    return f"gitcfg cache 1 {program_id()}\n".encode()


class Parts(NamedTuple):
    """The parts of a file. Answers may be large, so the parts are never joined in memory."""

    start: bytes
    answer: bytes


def file_parts(question: str, answer: bytes) -> Parts:
    """Return the parts of a file for a question and its encoded answer."""
    asked = question.encode()
    sizes = _SIZES.pack(len(asked), len(answer))
    return Parts(_header() + sizes + _SUM.pack(_sum(sizes, asked, answer)) + asked, answer)


def read_answer(question: str, data: bytes) -> memoryview:
    """Return the encoded answer in a file.

    Raise ValueError if it is of another version, damaged, or to another question.
    """
    asked, whole, ours = question.encode(), memoryview(data), _header()
    start = len(ours) + _SIZES.size + _SUM.size
    if whole[: len(ours)] != ours or len(whole) < start:
        raise ValueError("not ours")
    sizes = whole[len(ours) :][: _SIZES.size]
    (told,) = _SUM.unpack_from(whole, len(ours) + _SIZES.size)
    found = whole[start + len(asked) :]
    if _SIZES.unpack(sizes) != (len(asked), len(found)) or whole[start:][: len(asked)] != asked:
        raise ValueError("not whole, or for another question")
    if _sum(sizes, asked, found) != told:
        raise ValueError("not whole")
    return found


def _sum(*parts: bytes | memoryview) -> int:
    # Against accidents: 10 MB in 2.5 ms, where sha256 takes 6 and blake2b 16. Against malice, the owner of a
    # file is checked: a user who can write a file can write its sum as well.
    total = 0
    for part in parts:
        total = zlib.crc32(part, total)
    return total


MOST_BYTES = 512 << 20
MOST_FILES = 512
LARGEST = 128 << 20
ABANDONED = 3600 * 10**9
"""Nanoseconds after which the writer of a new file must have been killed."""
_NEW = "new-"
_FOREIGN = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderCache:
    """A folder of answers. Only files that `user` owns and no one else can write are read."""

    def __init__(self, folder: Path, user: int, notes: bool = True) -> None:
        """Use a folder. With `notes`, each use of an answer is noted, so that others are removed first."""
        self._folder = folder
        self._user = user
        self._notes = notes

    def get(self, question: str, kind: type[T]) -> T | None:
        """Return the saved answer to a question; None if there is no valid one."""
        try:
            with self._opened() as folder:
                data = self._read(folder, _name(question))
            return msgspec.msgpack.decode(read_answer(question, data), type=kind)
        except (OSError, ValueError):
            return None

    def put(self, question: str, answer: Any) -> None:
        """Save an answer; if there are too many, remove those that were unused for the longest time."""
        try:
            name, parts = _name(question), file_parts(question, msgspec.msgpack.encode(answer))
        except (OverflowError, ValueError):
            return
        if sum(map(len, parts)) > LARGEST:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with self._opened() as folder:
                _write(folder, name, parts)
                _prune(folder, name)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the folder, but not through a link. Raise OSError if it is missing or another user's."""
        folder = os.open(self._folder, _FOLDER)
        try:
            self._judge(os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _judge(self, state: os.stat_result) -> None:
        if state.st_uid != self._user or state.st_mode & _FOREIGN:
            raise PermissionError(self._folder)

    def _read(self, folder: int, name: str) -> bytes:
        # Read, not mapped: 10 MB in 0.8 ms, and no other user of the disk can cut it meanwhile.
        file = os.open(name, _READ, dir_fd=folder)
        try:
            state = os.fstat(file)
            self._judge(state)
            if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
                raise PermissionError(name)
            data = os.read(file, state.st_size)
            if self._notes:
                with contextlib.suppress(OSError):
                    os.utime(file)
            return data
        finally:
            os.close(file)


def _name(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()[:32]


def _write(folder: int, name: str, parts: Parts) -> None:
    """Write a whole file: its readers see the old or the new one, even if the writer is killed."""
    new = _NEW + os.urandom(8).hex()
    try:
        with open(os.open(new, _CREATE, 0o600, dir_fd=folder), "wb", buffering=0) as file:
            for part in parts:
                _write_all(file.fileno(), part)
        os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new, dir_fd=folder)
        raise


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _prune(folder: int, kept: str) -> None:
    """Remove surplus files and those of killed writers; the time is that of the new file, `kept`."""
    files = sorted((state.st_mtime_ns, name, state.st_size) for name, state in _files(folder))
    size, count = sum(size for _, _, size in files), len(files)
    now = next((time for time, name, _ in files if name == kept), 0)
    for time, name, bytes_ in files:
        left = name.startswith(_NEW) and now - time > ABANDONED
        if left or (name != kept and (size > MOST_BYTES or count > MOST_FILES)):
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            size, count = size - bytes_, count - 1


def _files(folder: int) -> Iterator[tuple[str, os.stat_result]]:
    for found in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):
            if found.is_file(follow_symlinks=False):
                yield found.name, found.stat(follow_symlinks=False)


SCRATCH_BYTES = 64 << 20


class Scratch:
    """A cache in memory, with the latest answers up to SCRATCH_BYTES."""

    def __init__(self, below: Cache) -> None:
        self._below = below
        self._answers: dict[str, bytes] = {}
        self._size = 0

    def get(self, question: str, kind: type[T]) -> T | None:
        """Return the answer in memory, else that of the cache below."""
        found = self._answers.get(question)
        if found is None:
            return self._below.get(question, kind)
        try:
            return msgspec.msgpack.decode(found, type=kind)
        except ValueError:
            return None

    def spill(self) -> None:
        """Save the answers in the cache below."""
        for question, data in self._answers.items():
            self._below.put(question, msgspec.Raw(data))

    def put(self, question: str, answer: Any) -> None:
        """Save an answer until there are too many."""
        try:
            data = msgspec.msgpack.encode(answer)
        except (OverflowError, ValueError):
            return
        self._size += len(data) - len(self._answers.pop(question, b""))
        self._answers[question] = data
        while self._size > SCRATCH_BYTES:
            oldest = next(iter(self._answers))
            self._size -= len(self._answers.pop(oldest))
