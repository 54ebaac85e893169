"""DIR/.gitcfg/manifest: what gitcfg wrote, a line a node in order of name, sealed by a digest at the end.

The first line is `{"schema":"gitcfg.manifest/1"}`, the last `{"sha256":"..."}` over all before it, and each
between them `[NODE,MADE,[[PATH,MODE,SHA256,SIZE,MTIME],...]]`.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from gitcfg.output.state import StateFolder

_HEAD = b'{"schema":"gitcfg.manifest/1"}\n'
_SEAL = '{{"sha256":"{}"}}\n'
_SEALED = len(_SEAL.format("0" * 64))
_BLOCK = 1 << 20


class Manifest(msgspec.Struct, frozen=True):
    """What a manifest says. `seal` is "" if there is none to be believed, `saved` when it was written, in
    ns. `problem` continues "DIR/.gitcfg/manifest ..."."""

    lines: Iterable[bytes] = ()
    seal: str = ""
    saved: int = 0
    problem: str = ""


@contextmanager
def open_manifest(path: Path) -> Iterator[Manifest]:
    """The manifest, of which all is believed or nothing. Its lines are read while they are asked for."""
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
        return Manifest(problem="is no file")
    if file.readline(len(_HEAD)) != _HEAD:
        return Manifest(problem="is of another version, or none of gitcfg's")
    seal = _find_seal(file, state.st_size)
    if seal is None:
        return Manifest(problem="is not whole")
    return Manifest(_lines(file, state.st_size), seal, state.st_mtime_ns)


def _find_seal(file: BinaryIO, size: int) -> str | None:
    """The digest at the end, if it is that of what stands before it."""
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
    """A manifest in the making."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.add(_HEAD)

    def add(self, line: bytes) -> None:
        """The next node's line."""
        self._file.write(line)
        self._digest.update(line)

    def seal(self) -> str:
        """End it, and say its digest."""
        self._file.write(_SEAL.format(self._digest.hexdigest()).encode())
        self._file.flush()
        return self._digest.hexdigest()


@contextmanager
def write_manifest(state: StateFolder, known: Manifest) -> Iterator[ManifestWriter]:
    """A new manifest, put in place at the end unless it says what is known already."""
    new = state.spare / "manifest"
    with open(new, "xb") as file:
        writer = ManifestWriter(file)
        yield writer
        seal = writer.seal()
    if seal == known.seal:
        new.unlink()
    else:
        os.replace(new, state.manifest)
