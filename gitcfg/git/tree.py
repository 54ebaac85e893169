"""A tree of files by path: what everything above reads a repository through."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Protocol

import msgspec


class EntryKind(Enum):
    """What stands at a path; only files are ever read."""

    FILE = "file"
    LINK = "symlink"
    SUBMODULE = "submodule"


class Entry(msgspec.Struct, frozen=True, order=True, gc=False):
    """A path of a tree: `/` between its parts, never `..`; bytes that are no text are escaped.

    `key` is the tree's own handle (a blob's id, a path on disk), `size` is in bytes.
    """

    path: str
    kind: EntryKind
    key: str
    size: int = 0


class Tree(Protocol):
    """Files by path. Entries come in order of path."""

    commit: str | None

    def entries(self, folder: str) -> Iterator[Entry]:
        """Every entry below a folder of the root, however deep."""
        ...

    def entry(self, path: str) -> Entry | None:
        """The entry at a path, if there is one."""
        ...

    def read(self, entry: Entry) -> bytes:
        """The content of an entry of this tree; of a link or submodule, nothing."""
        ...


class Symlink(str):
    """In a DictTree: a symbolic link to what the text says."""

    __slots__ = ()


class Submodule:
    """In a DictTree: another repository stands here."""


SUBMODULE = Submodule()

Content = str | bytes | Submodule


class DictTree:
    """A tree held in memory: path to content."""

    commit: str | None = None

    def __init__(self, files: Mapping[str, Content]) -> None:
        self.files = dict(files)

    def entries(self, folder: str) -> Iterator[Entry]:
        return iter(sorted(self._entry(path) for path in self.files if path.startswith(folder + "/")))

    def entry(self, path: str) -> Entry | None:
        return self._entry(path) if path in self.files else None

    def read(self, entry: Entry) -> bytes:
        content = self.files[entry.key]
        if isinstance(content, Submodule | Symlink):
            return b""
        return content.encode() if isinstance(content, str) else content

    def _entry(self, path: str) -> Entry:
        content = self.files[path]
        if isinstance(content, Submodule):
            return Entry(path, EntryKind.SUBMODULE, path)
        kind = EntryKind.LINK if isinstance(content, Symlink) else EntryKind.FILE
        return Entry(path, kind, path, len(content))
