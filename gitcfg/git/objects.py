"""The contents of git's objects by id, and their sizes without the contents."""

import os
from collections.abc import Callable, Iterable

import pygit2

from gitcfg.git.store import Store
from gitcfg.git.tree import Entry, EntryKind
from gitcfg.model import GitcfgError

FOLDER, LINK, SUBMODULE = 0o04, 0o12, 0o16
"""What the upper bits of a mode say; all else is a file."""


class Objects:
    """The objects of a repository. The key of an entry made of one is its id, in hexadecimal.

    `others`: ids that will be asked for next, which a partial clone fetches together.
    """

    def __init__(self, git: pygit2.Repository, others: Callable[[], Iterable[str]] = tuple) -> None:
        self._odb = Store(git, others)

    def id_of(self, entry: Entry) -> str:
        return entry.key

    def size_of(self, entry: Entry) -> int:
        # Sizes stand beside ids in none of git's lists: 0.7 us a packed object, so only where it matters.
        if entry.kind is not EntryKind.FILE:
            return 0
        size = self.size(entry.key)
        if size is None:
            raise missing(entry.key)
        return size

    def read(self, entry: Entry) -> bytes:
        """The content of a file."""
        if entry.kind is not EntryKind.FILE:
            return b""
        data = self.content(entry.key)
        if data is None:
            raise missing(entry.key)
        return data

    def size(self, id: str) -> int | None:
        """How many bytes an object has; None if it is not there."""
        try:
            return self._odb.read_header(pygit2.Oid(hex=id))[1]
        except (KeyError, pygit2.GitError):
            return None

    def content(self, id: str) -> bytes | None:
        """An object's bytes; None if it is not there, or broken."""
        try:
            return self._odb.read(pygit2.Oid(hex=id))[1]
        except (KeyError, pygit2.GitError):
            return None


def kind_of(mode: int) -> EntryKind | None:
    """What a mode stands for; None: a folder."""
    kind = mode >> 12
    if kind == FOLDER:
        return None
    if kind == LINK:
        return EntryKind.LINK
    return EntryKind.SUBMODULE if kind == SUBMODULE else EntryKind.FILE


def text(raw: bytes) -> str:
    """A name as text; bytes that are none are written as escapes."""
    return raw.decode("utf-8", "backslashreplace")


def shown(name: str) -> str:
    """A name that the system gave as text (`os.fsdecode`), with bytes that are none as escapes."""
    return name if name.isascii() else text(os.fsencode(name))


def missing(id: str) -> GitcfgError:
    """An object that others name is not there, or broken."""
    hint = "`git fsck` says what else is missing; fetch it, or clone anew."
    return GitcfgError(f"git's object {id} cannot be read.", hint)
