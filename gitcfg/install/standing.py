"""What stands at a path of the disk, as a value."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from typing import Any, NamedTuple

from .disk import CHUNK, Disk
from .package import File

ABSENT, FILE, LINK, FOLDER, SPECIAL = "absent", "file", "link", "folder", "special"


class Standing(NamedTuple):
    """`digest` is the content's SHA-256 ("" if larger than LARGEST); `target` is where a link leads."""

    kind: str
    digest: str = ""
    mode: int = 0
    uid: int = 0
    gid: int = 0
    size: int = 0
    target: str = ""


NOTHING = Standing(ABSENT)
LARGEST = 1 << 26
"""Bytes of a file that are read, four times what a package may mean: an endless one holds nobody up."""


def standing_to_json(standing: Standing) -> dict[str, Any]:
    """As plain data."""
    return standing._asdict()


def standing_from_json(said: Mapping[str, Any]) -> Standing:
    """From plain data that this version wrote."""
    return Standing(**said)


def meant(file: File, owner: tuple[int, int]) -> Standing:
    """How a file must stand."""
    return Standing(FILE, file.sum, file.bits, *owner, file.size)


def look(disk: Disk, at: int, name: str) -> Standing:
    """What stands in an open folder under a name."""
    found = disk.stat(at, name)
    if found is None:
        return NOTHING
    if stat.S_ISLNK(found.st_mode):
        return Standing(LINK, target=disk.readlink(at, name))
    if stat.S_ISDIR(found.st_mode):
        return Standing(FOLDER)
    if not stat.S_ISREG(found.st_mode):
        return Standing(SPECIAL)
    return _file(disk, at, name)


def _file(disk: Disk, at: int, name: str) -> Standing:
    """Owner and mode are asked of the opened file, so that they belong to the content that is read."""
    file = disk.open(at, name)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return Standing(SPECIAL)
        digest = _digest(file) if found.st_size <= LARGEST else ""
    finally:
        os.close(file)
    mode = stat.S_IMODE(found.st_mode)
    return Standing(FILE, digest, mode, found.st_uid, found.st_gid, found.st_size)


def _digest(file: int) -> str:
    digest = hashlib.sha256()
    for _ in range(LARGEST // CHUNK + 1):
        part = os.read(file, CHUNK)
        if not part:
            break
        digest.update(part)
    return digest.hexdigest()
