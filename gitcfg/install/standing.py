"""What stands at a path of the disk, as a value."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .disk import CHUNK, Disk

ABSENT, FILE, LINK, FOLDER, SPECIAL = "absent", "file", "link", "folder", "special"


@dataclass(frozen=True)
class Standing:
    """`digest` is the content's SHA-256; `target` is where a link leads."""

    kind: str
    digest: str = ""
    mode: int = 0
    uid: int = 0
    gid: int = 0
    size: int = 0
    target: str = ""


NOTHING = Standing(ABSENT)


def standing_to_json(standing: Standing) -> dict[str, Any]:
    """As plain data."""
    return asdict(standing)


def standing_from_json(said: Mapping[str, Any]) -> Standing:
    """From plain data that this version wrote."""
    return Standing(**said)


def meant(content: bytes, mode: int, owner: tuple[int, int]) -> Standing:
    """How a file must stand."""
    return Standing(FILE, hashlib.sha256(content).hexdigest(), mode, *owner, len(content))


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
        digest = hashlib.sha256()
        while part := os.read(file, CHUNK):
            digest.update(part)
    finally:
        os.close(file)
    mode = stat.S_IMODE(found.st_mode)
    return Standing(FILE, digest.hexdigest(), mode, found.st_uid, found.st_gid, found.st_size)
