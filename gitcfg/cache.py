"""A cache of answers beside a repository's objects: checked and never simply believed, safe to delete.

An answer counts only if the same program wrote it, the user owns its file, and its checksum holds. Nothing
that goes wrong with a cache is reported: then there is no answer, or none is kept.
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
        """The answer kept for a question; None if there is none.

        What `msgspec.Raw` and memoryview stand for in it is not copied.
        """
        ...

    def put(self, question: str, answer: Any) -> None:
        """Keep an answer, whatever msgspec encodes, in place of an older one to the same question."""
        ...


class SpillingCache(Cache, Protocol):
    """A cache that forgets what it is given unless `spill` is called."""

    def spill(self) -> None:
        """Write what was found out, for later runs."""
        ...


class NoCache:
    """A cache that keeps nothing."""

    def spill(self) -> None:
        pass

    def get(self, question: str, kind: type[T]) -> T | None:
        return None

    def put(self, question: str, answer: Any) -> None:
        pass


def open_cache(repository: "Repository", user: int) -> Cache:
    """Open the cache of a user for a repository: one for all its work trees, none where there is no git."""
    if repository.shared is None:
        return NoCache()
    return FolderCache(repository.shared / "gitcfg", user)


def open_read_only(repository: "Repository", user: int) -> SpillingCache:
    """Open the cache where nothing may be written: new answers stay in memory unless they are spilled."""
    if repository.shared is None:
        return NoCache()
    return Scratch(FolderCache(repository.shared / "gitcfg", user, notes=False))


@cache
def program_id() -> str:
    """Return the program's version and when its files last changed: development keeps the version.

    Looking at 500 files takes 2 ms.
    """
    try:
        newest = max(_modification_times(os.path.dirname(gitcfg.__file__)), default=0)
    except OSError:  # it runs out of an archive
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
    """What a file begins with: the format and the program. Another's is not even decoded."""
    return f"gitcfg cache 1 {program_id()}\n".encode()


class Parts(NamedTuple):
    """What a file consists of; answers may be large, so they are never put together in memory."""

    start: bytes
    answer: bytes


def file_parts(question: str, answer: bytes) -> Parts:
    """A file for a question and its encoded answer."""
    asked = question.encode()
    sizes = _SIZES.pack(len(asked), len(answer))
    return Parts(_header() + sizes + _SUM.pack(_sum(sizes, asked, answer)) + asked, answer)


def read_answer(question: str, data: bytes) -> memoryview:
    """The encoded answer in a file. ValueError: it is not this version's, not whole, or another's."""
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
    # Against accidents: 10 MB in 2.5 ms, where sha256 takes 6 and blake2b 16. Against malice files are
    # judged by their owner: who can write a file can write its sum as well.
    total = 0
    for part in parts:
        total = zlib.crc32(part, total)
    return total


MOST_BYTES = 512 << 20
MOST_FILES = 512
LARGEST = 128 << 20
ABANDONED = 3600 * 10**9
"""After so many nanoseconds nobody writes on at a new file: its writer was killed."""
_NEW = "new-"
_FOREIGN = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderCache:
    """A folder of answers. Only what `user` owns and nobody else can write is read."""

    def __init__(self, folder: Path, user: int, notes: bool = True) -> None:
        """`notes`: is it noted at each answer when it was asked for last, so that others go first?"""
        self._folder = folder
        self._user = user
        self._notes = notes

    def get(self, question: str, kind: type[T]) -> T | None:
        """The answer kept for a question; None if there is none that is whole and ours."""
        try:
            with self._opened() as folder:
                data = self._read(folder, _name(question))
            return msgspec.msgpack.decode(read_answer(question, data), type=kind)
        except (OSError, ValueError):
            return None

    def put(self, question: str, answer: Any) -> None:
        """Keep an answer, and drop those not asked for in the longest time if there are too many."""
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
        """The folder, which no link leads to. OSError: it is not there, or not ours."""
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
        # Read, not mapped: 10 MB in 0.8 ms, and nobody who shares the disk can take it away meanwhile.
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
    """Put a file in place whole: a reader sees the old or the new one, whenever the writer is killed."""
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
    """Remove what is too much and what killed writers left; `kept`, which is new, tells the time."""
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
    """Keeps answers in memory, the latest up to so many bytes."""

    def __init__(self, below: Cache) -> None:
        self._below = below
        self._answers: dict[str, bytes] = {}
        self._size = 0

    def get(self, question: str, kind: type[T]) -> T | None:
        """The answer kept here, else the one below."""
        found = self._answers.get(question)
        if found is None:
            return self._below.get(question, kind)
        try:
            return msgspec.msgpack.decode(found, type=kind)
        except ValueError:
            return None

    def spill(self) -> None:
        """Keep below what was found out."""
        for question, data in self._answers.items():
            self._below.put(question, msgspec.Raw(data))

    def put(self, question: str, answer: Any) -> None:
        """Keep an answer until there are too many."""
        try:
            data = msgspec.msgpack.encode(answer)
        except (OverflowError, ValueError):
            return
        self._size += len(data) - len(self._answers.pop(question, b""))
        self._answers[question] = data
        while self._size > SCRATCH_BYTES:
            oldest = next(iter(self._answers))
            self._size -= len(self._answers.pop(oldest))
