"""git's index as a file: versions 2, 3 and 4 of it."""

import hashlib
import os
import struct
from pathlib import Path

from gitcfg.git.staged import Index, Staged
from gitcfg.model import GitcfgError

_HEAD = struct.Struct(">4sLL")
_EXTENSION = struct.Struct(">4sL")
_LONG, _EXTENDED = 0x0FFF, 0x4000
_DIGEST = 20
_FOLDERS = b"sdir"
"""It marks an index that has folders in place of all files below them (`git sparse-checkout`)."""


def read_index(file: Path) -> Index:
    """The index in a file, empty where there is none. GitcfgError: it cannot be understood."""
    try:
        with file.open("rb") as opened:
            data, state = opened.read(), os.fstat(opened.fileno())
    except FileNotFoundError:
        return Index()
    try:
        return Index(_files(data), state.st_mtime_ns // 10**9)
    except (ValueError, IndexError, struct.error) as error:
        hint = "`git update-index --no-split-index` and `git sparse-checkout reapply --no-sparse-index` help."
        message = f"git's index {file} cannot be read: {error}."
        raise GitcfgError(
            message, hint if isinstance(error, _Unknown) else "`git status` tells more."
        ) from None


class _Unknown(ValueError):
    """It is sound, but nothing that is known here."""


def _files(data: bytes) -> dict[str, Staged]:
    """What is staged. ValueError, IndexError, struct.error: the data is broken."""
    mark, version, count = _HEAD.unpack_from(data)
    if mark != b"DIRC":
        raise ValueError("it is no index")
    if not 2 <= version <= 4:
        raise _Unknown(f"its version is {version}")
    files, at = (_short if version == 4 else _plain)(data, count)
    _judge(data, at)
    return files


def _plain(data: bytes, count: int) -> tuple[dict[str, Staged], int]:
    """Versions 2 and 3: whole names, and rows are filled up to eight bytes with NULs."""
    files, at = dict[str, Staged](), _HEAD.size
    for _ in range(count):
        flags = data[at + 60] << 8 | data[at + 61]
        name = at + (64 if flags & _EXTENDED else 62)
        long = flags & _LONG
        end = data.index(b"\0", name) if long == _LONG else name + long
        files[os.fsdecode(data[name:end])] = Staged(data[at:name])
        at = end + 8 - (end - at) % 8
    return files, at


def _short(data: bytes, count: int) -> tuple[dict[str, Staged], int]:
    """Version 4: a name says how much of the end of the one before it goes, and what comes instead."""
    files, at, path = dict[str, Staged](), _HEAD.size, b""
    for _ in range(count):
        name = at + (64 if data[at + 60] << 8 & _EXTENDED else 62)
        gone, start = _number(data, name)
        end = data.index(b"\0", start)
        path = path[: len(path) - gone] + data[start:end]
        files[os.fsdecode(path)] = Staged(data[at:name])
        at = end + 1
    return files, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number written seven bits a byte, and where it ends."""
    number = data[at] & 127
    while data[at] & 128:
        at += 1
        number = (number + 1 << 7) + (data[at] & 127)
    return number, at + 1


def _judge(data: bytes, at: int) -> None:
    """What follows the files: extensions, of which lower case says that they must be understood; a hash."""
    end = len(data) - _DIGEST
    digest = hashlib.sha1(memoryview(data)[:end], usedforsecurity=False).digest()
    if data[end:] not in (digest, bytes(_DIGEST)):  # git leaves zeros where it is told to save time
        raise ValueError("it is not whole")
    while at < end:
        name, size = _EXTENSION.unpack_from(data, at)
        if name[:1].islower() and name != _FOLDERS:
            raise _Unknown(f"it has the extension {name.decode('ascii', 'backslashreplace')}")
        at += _EXTENSION.size + size
    if at != end:
        raise ValueError("it is not whole")
