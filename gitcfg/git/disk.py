"""Files on disk as a source of entries: what they hold and which ids that has."""

import hashlib
import os
from collections.abc import Iterator

from gitcfg.git.tree import NO_ID, Entry, EntryKind, blob_id
from gitcfg.git.worktree import Knowledge
from gitcfg.model import GitcfgError

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BLOCK = 1 << 16


class Disk:
    """The first look at a file holds: its id is of what was there then, and reading gives just that.

    The key of an entry is its place on disk.
    """

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._ids: dict[str, str] = {}
        self._stored = set[str]()

    def id_of(self, entry: Entry) -> str:
        id = self._ids.get(entry.path)
        if id is None:
            id = self._ids[entry.path] = self._look(entry)
        return id

    def size_of(self, entry: Entry) -> int:
        return os.lstat(entry.key).st_size if entry.kind is EntryKind.FILE else 0

    def read(self, entry: Entry) -> bytes:
        """The content of a file. GitcfgError: it is no longer what it was at the first look."""
        if entry.kind is not EntryKind.FILE:
            return b""
        known = self._ids.get(entry.path)
        data = self._known.content(known) if known in self._stored else None
        if data is None:
            data = b"".join(_blocks(entry.key))
            found = blob_id(data)
            if self._ids.setdefault(entry.path, found) != found:
                raise GitcfgError(f"{entry.path} changed while it was read.", "Try again.")
        return data

    def _look(self, entry: Entry) -> str:
        # What has gone meanwhile, or may not be read, has no id: no bytes are ever taken for it.
        try:
            if entry.kind is not EntryKind.FILE:
                return self._look_elsewhere(entry)
            stored = self._known.unchanged(entry.key)
            if stored is None:
                return _hashed(entry.key)
            self._stored.add(stored)
            return stored
        except OSError:
            return NO_ID

    def _look_elsewhere(self, entry: Entry) -> str:
        if entry.kind is EntryKind.SUBMODULE:
            return self._known.checked_out(entry.key)
        return blob_id(os.readlink(os.fsencode(entry.key)))


def _hashed(place: str) -> str:
    """The id of a file's content, which need not fit into memory."""
    size = os.lstat(place).st_size
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for block in _blocks(place):
        digest.update(block)
        size -= len(block)
    if size:
        raise GitcfgError(f"{place} changed while it was read.", "Try again.")
    return digest.hexdigest()


def _blocks(place: str) -> Iterator[bytes]:
    descriptor = os.open(place, _FLAGS)
    try:
        while block := os.read(descriptor, _BLOCK):
            yield block
    finally:
        os.close(descriptor)
