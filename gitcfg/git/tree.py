"""Trees of files by path: the interface by which a repository is read, and the ids of their parts."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from operator import attrgetter
from typing import Protocol, runtime_checkable

import msgspec

NO_ID = "0" * 40
"""The id of an entry without one: a submodule in which nothing is checked out."""


class EntryKind(Enum):
    """The kind of an entry at a path. Only files are ever read."""

    FILE = "file"
    LINK = "symlink"
    SUBMODULE = "submodule"


class Source(Protocol):
    """Finds properties of an entry that are not read with its name."""

    def id_of(self, entry: "Entry") -> str: ...

    def size_of(self, entry: "Entry") -> int: ...


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A path of a tree: `/` between its parts, never `..`; bytes that are not text are escaped.

    `key` is the source's own handle: an object's id, a path on disk.
    """

    path: str
    kind: EntryKind
    key: str
    source: Source

    @property
    def id(self) -> str:
        """git's id of the bytes that reading the entry gives, in any kind of tree.

        For a link it is the id of its target's path, for a submodule the commit that is checked out.
        """
        return self.source.id_of(self)

    @property
    def size(self) -> int:
        """The number of bytes of a file."""
        return self.source.size_of(self)


class Tree(Protocol):
    """Files by path, in order of path."""

    commit: str | None

    def entries(self, folder: str) -> Iterator[Entry]:
        """Yield every entry below a folder of the root, at any depth.

        If there is a link or submodule instead of the folder, yield only that.
        """
        ...

    def entry(self, path: str) -> Entry | None:
        """Return the entry at a path, if there is one."""
        ...

    def read(self, entry: Entry) -> bytes:
        """Return the content of an entry of this tree; empty for a link or submodule."""
        ...


class Symlink(str):
    """A symbolic link in a DictTree, with its target."""

    __slots__ = ()


class Submodule:
    """A submodule in a DictTree: another repository."""


SUBMODULE = Submodule()
Content = str | bytes | Submodule


class DictTree:
    """A tree held in memory: path to content."""

    commit: str | None = None

    def __init__(self, files: Mapping[str, Content]) -> None:
        self.files = dict(files)

    def entries(self, folder: str) -> Iterator[Entry]:
        found = [self._entry(path) for path in self.files if path.startswith(folder + "/")]
        itself = self.entry(folder)
        return iter([itself] if itself and itself.kind is not EntryKind.FILE else sort_entries(found))

    def entry(self, path: str) -> Entry | None:
        return self._entry(path) if path in self.files else None

    def read(self, entry: Entry) -> bytes:
        return _bytes(self.files[entry.key]) if entry.kind is EntryKind.FILE else b""

    def id_of(self, entry: Entry) -> str:
        content = self.files[entry.key]
        return NO_ID if isinstance(content, Submodule) else blob_id(_bytes(content))

    def size_of(self, entry: Entry) -> int:
        return len(self.read(entry))

    def _entry(self, path: str) -> Entry:
        content = self.files[path]
        if isinstance(content, Submodule):
            return Entry(path, EntryKind.SUBMODULE, path, self)
        return Entry(path, EntryKind.LINK if isinstance(content, Symlink) else EntryKind.FILE, path, self)


def sort_entries(entries: list[Entry]) -> list[Entry]:
    """Sort entries by path."""
    return sorted(entries, key=attrgetter("path"))


def blob_id(data: bytes) -> str:
    """Return the id that git gives a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _bytes(content: Content) -> bytes:
    if isinstance(content, Submodule):
        return b""
    return content.encode() if isinstance(content, str) else content


def fingerprint(tree: Tree, places: Iterable[str]) -> str:
    """Return the id of the files `places` and of all that is below the folders `places`.

    Two ids are equal exactly if paths, kinds and ids of the entries are; missing places do not count.
    """
    return fingerprint_of(entry for place in places for entry in _entries_at(tree, place))


def fingerprint_of(entries: Iterable[Entry]) -> str:
    """Return the id of entries, in any order and with any repetitions."""
    # No path contains a NUL, and what follows the path has a fixed length and a fixed set of ends. Entries
    # nearly always come in order: a dictionary keeps it, and sorting a sorted list is fast.
    lines = dict.fromkeys(
        f"{one.path}\0{one.id}{'' if one.kind is EntryKind.FILE else one.kind.value}\0" for one in entries
    )
    return hashlib.sha256("".join(sorted(lines)).encode("utf-8", "surrogatepass")).hexdigest()


def changed_paths(old: Tree, new: Tree, places: Iterable[str]) -> frozenset[str]:
    """Return the paths at or below some places at which two trees differ."""
    found: set[str] = set()
    for place in places:
        if (
            isinstance(old, _TokenTree)
            and isinstance(new, _TokenTree)
            and old.token(place) == new.token(place)
        ):
            continue  # certainly the same, without reading
        before, after = (
            {(entry.path, entry.id, entry.kind.value) for entry in _entries_at(tree, place)}
            for tree in (old, new)
        )
        found.update(path for path, _, _ in before ^ after)
    return frozenset(found)


@runtime_checkable
class _TokenTree(Protocol):
    """A tree whose folders have ids of their own."""

    def token(self, folder: str) -> str:
        """Return the same for folders with the same content."""
        ...


def _entries_at(tree: Tree, place: str) -> Iterator[Entry]:
    yield from tree.entries(place)
    itself = tree.entry(place)
    if itself is not None:
        yield itself
