"""Whole files and folders: written with all they must have, read, and removed with everything in them."""

from __future__ import annotations

import os
import stat

from .disk import CHUNK, Disk


def put(disk: Disk, at: int, name: str, content: bytes, owner: tuple[int, int] | None, mode: int) -> None:
    """A new file with all it must have, on the disk; its folder is the caller's to sync."""
    file = disk.create(at, name)
    try:
        disk.write(file, content)
        uid, gid = owner or (os.geteuid(), os.getegid())
        disk.own(file, uid, gid, mode)
        disk.sync(file)
    finally:
        os.close(file)


def take(disk: Disk, at: int, name: str, most: int) -> bytes:
    """At most `most` bytes of a file."""
    file = disk.open(at, name)
    try:
        return read(file, most)
    finally:
        os.close(file)


def read(file: int, most: int) -> bytes:
    """At most `most` bytes of an open file."""
    parts = []
    while most > 0 and (part := os.read(file, min(CHUNK, most))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def remove_tree(disk: Disk, at: int, name: str) -> None:
    """A folder with everything in it, links not followed; nothing there is well too."""
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
