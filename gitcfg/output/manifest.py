"""DIR/.gitcfg: what gitcfg wrote to an output folder, and a lock for one process at a time.

DIR/.gitcfg/manifest has a line for each node in order of name, and a digest at the end. The first line is
`{"schema":"gitcfg.manifest/1"}`, the last `{"sha256":"..."}` over all before it, and each between them
`[NODE,FINGERPRINT,[[PATH,MODE,SHA256,SIZE,MTIME],...]]`. DIR/.gitcfg/journal records what a run is about to
write, so that this is known if the run is killed.
"""

import errno
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from gitcfg.model import REFUSED, GitcfgError

NAME = ".gitcfg"
_TRIES, _PAUSE = 60, 0.05  # after a process was killed, its workers may need a moment to end
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK})


class StateFolder(msgspec.Struct, frozen=True):
    """The folder .gitcfg of an output folder. `locked`: no other gitcfg writes there now."""

    top: Path
    locked: bool = True

    @property
    def home(self) -> Path:
        """The folder .gitcfg itself."""
        return self.top / NAME

    @property
    def manifest(self) -> Path:
        """The manifest of the last run that finished."""
        return self.home / "manifest"

    @property
    def journal(self) -> Path:
        """The journal of a run that has not finished."""
        return self.home / "journal"

    @property
    def spare(self) -> Path:
        """The folder of incomplete files."""
        return self.home / "new"


@contextmanager
def open_state(top: Path) -> Iterator[StateFolder]:
    """Open an output folder; create it if it does not exist.

    Raise GitcfgError if another gitcfg writes there, or it is not a folder.
    """
    state = StateFolder(top)
    for folder in (top, state.home, state.spare):
        named = folder == top  # only this folder may be reached through a link
        if (folder.is_symlink() and not named) or (folder.exists() and not folder.is_dir()):
            raise GitcfgError(f"{folder} is not a folder.", "Choose another one." if named else "Remove it.")
        folder.mkdir(parents=named, exist_ok=True)
    # Forked workers hold the lock, too: it is free when the last of them has ended, even if this process
    # died.
    lock = os.open(state.home / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        locked = lock_folder(lock, top)
        _clear(state.spare)  # incomplete files of an interrupted run
        try:
            yield StateFolder(top, locked)
        finally:
            with suppress(OSError):
                _clear(state.spare)
    finally:
        os.close(lock)


def _clear(spare: Path) -> None:
    for name in os.listdir(spare):
        (spare / name).unlink(missing_ok=True)


def lock_folder(lock: int, top: Path) -> bool:
    """Lock a folder by an open file. Return False if the file system has no locks.

    Raise GitcfgError if another process has the lock.
    """
    for _ in range(_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return False
        else:
            return True
    hint = "Wait for it to finish, or write to another folder."
    raise GitcfgError(f"Another gitcfg is writing to {top}.", hint, code=REFUSED)


# The manifest

_HEAD = b'{"schema":"gitcfg.manifest/1"}\n'
_SEAL = '{{"sha256":"{}"}}\n'
_SEALED = len(_SEAL.format("0" * 64))
_BLOCK = 1 << 20


class Manifest(msgspec.Struct, frozen=True):
    """The content of a manifest. `seal` is "" if it cannot be trusted; `saved` is when it was written, in ns.

    `problem` continues "DIR/.gitcfg/manifest ...".
    """

    lines: Iterable[bytes] = ()
    seal: str = ""
    saved: int = 0
    problem: str = ""


@contextmanager
def open_manifest(path: Path) -> Iterator[Manifest]:
    """Open the manifest, which is trusted as a whole or not at all. Its lines are read lazily."""
    try:
        place = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        yield Manifest()
        return
    except OSError as error:
        yield Manifest(problem=f"cannot be read ({error.strerror})")
        return
    with open(place, "rb") as file:
        yield _read_manifest(file)


def _read_manifest(file: BinaryIO) -> Manifest:
    state = os.fstat(file.fileno())
    if not stat.S_ISREG(state.st_mode):
        return Manifest(problem="is not a file")
    if file.readline(len(_HEAD)) != _HEAD:
        return Manifest(problem="has another version, or was not written by gitcfg")
    seal = _find_seal(file, state.st_size)
    if seal is None:
        return Manifest(problem="is incomplete")
    return Manifest(_lines(file, state.st_size), seal, state.st_mtime_ns)


def _find_seal(file: BinaryIO, size: int) -> str | None:
    """Return the digest at the end if it is correct."""
    found = hashlib.sha256()
    file.seek(0)
    left = size - _SEALED
    while left > 0 and (block := file.read(min(left, _BLOCK))):
        found.update(block)
        left -= len(block)
    return found.hexdigest() if file.read() == _SEAL.format(found.hexdigest()).encode() else None


def _lines(file: BinaryIO, size: int) -> Iterator[bytes]:
    file.seek(len(_HEAD))
    while file.tell() < size - _SEALED:
        yield file.readline()


class ManifestWriter:
    """A manifest while it is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.add(_HEAD)

    def add(self, line: bytes) -> None:
        """Add the next node's line."""
        self._file.write(line)
        self._digest.update(line)

    def seal(self) -> str:
        """Finish the manifest, and return its digest."""
        self._file.write(_SEAL.format(self._digest.hexdigest()).encode())
        self._file.flush()
        return self._digest.hexdigest()


@contextmanager
def write_manifest(state: StateFolder, known: Manifest) -> Iterator[ManifestWriter]:
    """Write a new manifest, and install it at the end unless it equals the known one."""
    new = state.spare / "manifest"
    with open(new, "xb") as file:
        writer = ManifestWriter(file)
        yield writer
        seal = writer.seal()
    if seal == known.seal:
        new.unlink()
    else:
        os.replace(new, state.manifest)


# Records: a line of the manifest or the journal

UNKNOWN = -1
"""The size or time of a file that was not seen in place."""


class Trace(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that gitcfg wrote: SHA-256 of its content, and its state afterwards (`mtime` in ns)."""

    path: str
    mode: str
    digest: str
    size: int = UNKNOWN
    mtime: int = UNKNOWN


class Record(msgspec.Struct, frozen=True, array_like=True):
    """The files of a node that gitcfg wrote.

    `fingerprint` is of their ingredients, "" if the list may be incomplete. A path occurs twice if it is not
    certain which of two contents was written last.
    """

    node: str
    fingerprint: str
    files: tuple[Trace, ...]


class _Named(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of a record."""

    node: str


_decoder = msgspec.json.Decoder(Record)
_named = msgspec.json.Decoder(_Named)
_encoder = msgspec.json.Encoder()


def encode_record(record: Record) -> bytes:
    """Return a record as a line."""
    return _encoder.encode(record) + b"\n"


def decode_record(text: bytes) -> Record:
    """Parse a line. Raise msgspec.DecodeError if it is not a record."""
    return _decoder.decode(text)


def decode_node(text: bytes) -> str:
    """Return the node that a line is about."""
    return _named.decode(text).node


def join_records(node: str, known: Iterable[Record]) -> Record:
    """Join records of one node, of which not everything is certain."""
    traces = dict.fromkeys(trace for record in known for trace in record.files)
    return Record(node, "", tuple(traces))


# The journal


class Journal:
    """A file to whose end all workers append lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def write(self, intended: Record) -> None:
        """Record what is about to be written. Raise OSError if that fails; nothing may then be written."""
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self._path, flags, 0o666)
        # The line end at the start separates it from another worker's line that was written only in part.
        text = b"\n" + encode_record(intended)
        while os.write(self._file, text) < len(text):
            pass  # the disk is nearly full: the next attempt fails, or writes the whole line

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def read_journal(path: Path) -> dict[str, Record]:
    """Return what interrupted runs may have written, by node. Incomplete lines do not count."""
    found: dict[str, list[Record]] = {}
    try:
        lines: Iterable[bytes] = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        lines = ()
    for text in filter(None, lines):
        try:
            record = decode_record(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        found.setdefault(record.node, []).append(record)
    return {node: join_records(node, records) for node, records in found.items()}
