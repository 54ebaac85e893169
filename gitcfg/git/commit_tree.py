"""The tree of a commit, from git's own tree objects, and the files that differ between two trees.

Neighbours in history share nearly all bytes, so only the bytes that differ are parsed.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import islice

import msgspec
import pygit2

from gitcfg.git.objects import (
    FOLDER,
    LINK,
    SUBMODULE,
    Objects,
    Store,
    decode_name,
    entry_kind,
    missing_object,
)
from gitcfg.git.tree import Entry, EntryKind, sort_entries
from gitcfg.model import GitcfgError
from gitcfg.model.names import FOLDERS, SETTINGS

Row = tuple[bytes, bytes, bytes]
"""An entry of a tree: mode, name, id."""

_ITEM = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_FIXED = 22  # the bytes of the space, the NUL and the id
_BLOCK = 1 << 12
_MOST = 64
_PLAIN = frozenset((b"100644", b"100755"))


class Item(msgspec.Struct, frozen=True, gc=False):
    """The entry of a tree under a name."""

    id: bytes
    mode: int

    @property
    def folder(self) -> bytes | None:
        """The id of a folder; None for others."""
        return self.id if self.mode >> 12 == FOLDER else None

    @property
    def file(self) -> bytes | None:
        """The id of a file; None for others, also for links and submodules."""
        return None if self.mode >> 12 in (FOLDER, LINK, SUBMODULE) else self.id


Items = dict[str, Item]


def read_tree(odb: Store, tree: bytes) -> bytes:
    """Return the bytes of a tree object."""
    return odb.read(pygit2.Oid(raw=tree))[1]


def read_rows(odb: Store, tree: bytes) -> list[Row]:
    """Return the entries of a tree, in git's order. Raise GitcfgError if it is not a valid tree object."""
    data = read_tree(odb, tree)
    found: list[Row] = _ITEM.findall(data)
    if sum(len(mode) + len(name) for mode, name, _ in found) + _FIXED * len(found) != len(data):
        raise GitcfgError(
            f"git's tree {tree.hex()} is broken.", "Run `git fsck` to find what else is broken."
        )
    return found


def _read_items(odb: Store, tree: bytes) -> Items:
    return {decode_name(name): Item(id, int(mode, 8)) for mode, name, id in read_rows(odb, tree)}


class FileChange(msgspec.Struct, frozen=True, gc=False):
    """A path whose file differs between two trees; None on a side without the file."""

    path: str
    old: bytes | None
    new: bytes | None


class Trees:
    """The trees of a repository."""

    def __init__(self, git: pygit2.Repository) -> None:
        self._odb = Store(git)
        self._known: dict[bytes, tuple[bytes, list[int]]] = {}
        # A cache of the store, not of this object: one of its own methods would keep this object forever.
        self.items = lru_cache(maxsize=1 << 12)(partial(_read_items, self._odb))

    def raw(self, tree: bytes) -> bytes:
        """Return the bytes of a tree object."""
        return read_tree(self._odb, tree)

    def rows(self, tree: bytes) -> list[Row]:
        """Return the entries of a tree, in git's order.

        Raise GitcfgError if it is not a valid tree object.
        """
        return read_rows(self._odb, tree)

    def changed(self, old: bytes | None, new: bytes | None, path: str = "") -> Iterator[FileChange]:
        """Yield the files that differ between two trees, in order of name."""
        if old == new:
            return
        ours, theirs = self._different(old, new)
        for name in sorted(ours.keys() | theirs.keys()):
            before, after = ours.get(name), theirs.get(name)
            was, now = (item.file if item else None for item in (before, after))
            if was != now:
                yield FileChange(path + name, was, now)
            within, inside = (item.folder if item else None for item in (before, after))
            yield from self.changed(within, inside, f"{path}{name}/")

    def _different(self, old: bytes | None, new: bytes | None) -> tuple[Items, Items]:
        """Return the entries that differ between two trees, and perhaps some that do not."""
        if old is None or new is None:
            return self.items(old) if old else {}, self.items(new) if new else {}
        (before, starts), after = self._locate_items(old), self.raw(new)
        place = _count_common(before, after)
        first = len(starts) if place == len(before) else bisect_right(starts, place) - 1
        start = starts[first] if first < len(starts) else len(before)
        tail = _count_common(before[start:][::-1], after[start:][::-1])
        last = bisect_left(starts, len(before) - tail, first)
        end = starts[last] if last < len(starts) else len(before)
        more = len(after) - len(before)
        found = list(_ITEM.finditer(after, start, end + more))
        edges = [start, *(match.end() for match in found)]
        # Items must cover the whole range without gaps.
        if edges[-1] != end + more or any(
            match.start() != edge for match, edge in zip(found, edges, strict=False)
        ):
            return self.items(old), self.items(new)
        rest = starts[last:] if more == 0 else [place + more for place in starts[last:]]
        self._keep(new, after, [*starts[:first], *(match.start() for match in found), *rest])
        return _parse_items(_ITEM.finditer(before, start, end)), _parse_items(found)

    def _locate_items(self, tree: bytes) -> tuple[bytes, list[int]]:
        """Return the bytes of a tree object, and where each entry begins."""
        if tree not in self._known:
            data = self.raw(tree)
            self._keep(tree, data, [match.start() for match in _ITEM.finditer(data)])
        return self._known[tree]

    def _keep(self, tree: bytes, data: bytes, starts: list[int]) -> None:
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[tree] = (data, starts)


def _parse_items(found: Iterable[re.Match[bytes]]) -> Items:
    return {decode_name(match[2]): Item(match[3], int(match[1], 8)) for match in found}


def _count_common(one: bytes, two: bytes) -> int:
    """Return the number of bytes that two texts have in common at the beginning."""
    most = min(len(one), len(two))
    low = 0
    while low < most and one[low : low + _BLOCK] == two[low : low + _BLOCK]:
        low += _BLOCK
    low, high = min(low, most), min(low + _BLOCK, most)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


Listings = dict[tuple[str, str], list[Entry]]

_MOST_LISTED = 64
MOST_FOLDERS = 256
"""The maximum depth of folders: a push may have any depth."""
MOST_ENTRIES = 1_000_000
"""The maximum number of files: some folders that contain each other ten times each make any number."""


class CommitTree:
    """The tree of a commit, below a prefix.

    `listed` caches listings of folders by path and id: neighbouring commits share most of them.
    """

    def __init__(
        self, git: pygit2.Repository, commit: pygit2.Commit, prefix: str, listed: Listings | None = None
    ) -> None:
        self.git = git
        self.commit: str | None = str(commit.id)
        self._trees = Trees(git)
        self._objects = Objects(git, self._files)
        self._root = self._folder(commit.tree_id.raw, prefix.split("/") if prefix else [])
        self._listed = {} if listed is None else listed

    def entries(self, folder: str) -> Iterator[Entry]:
        key = (folder, self.token(folder))
        if key not in self._listed:
            if len(self._listed) >= _MOST_LISTED:
                del self._listed[next(iter(self._listed))]
            self._listed[key] = self._entries(folder)
        return iter(self._listed[key])

    def token(self, folder: str) -> str:
        """Return git's id of the entry of that name; empty if there is none."""
        found = self._item(folder)
        return found.id.hex() if found is not None else ""

    def _entries(self, folder: str) -> list[Entry]:
        found = self._item(folder)
        if found is None:
            return []
        if found.folder is not None:
            entries = list(islice(self._walk(found.folder, folder), MOST_ENTRIES + 1))
            if len(entries) > MOST_ENTRIES:
                raise GitcfgError(f"There are more than {MOST_ENTRIES:,} files below {folder}.")
            return sort_entries(entries)
        itself = self._entry(found, folder)
        return [] if itself.kind is EntryKind.FILE else [itself]

    def entry(self, path: str) -> Entry | None:
        found = self._item(path)
        return self._entry(found, path) if found is not None and found.folder is None else None

    def read(self, entry: Entry) -> bytes:
        return self._objects.read(entry)

    def _files(self) -> Iterator[str]:
        """Yield the ids of all files that gitcfg reads."""
        settings = self.entry(SETTINGS)
        yield from () if settings is None else (settings.key,)
        yield from (entry.key for folder in FOLDERS for entry in self.entries(folder))

    def _walk(self, tree: bytes, path: str) -> Iterator[Entry]:
        if path.count("/") > MOST_FOLDERS:
            raise GitcfgError(f"Folders are nested too deeply: {path[:80]}...")
        # A regular expression lists 10,000 entries in 12 ms; objects of git's library take 49 ms.
        for mode, name, id in self._rows(tree):
            inner = f"{path}/{decode_name(name)}"
            kind = EntryKind.FILE if mode in _PLAIN else entry_kind(int(mode, 8))
            if kind is None:
                yield from self._walk(id, inner)
            else:
                yield Entry(inner, kind, id.hex(), self._objects)

    def _item(self, path: str) -> Item | None:
        *folders, name = path.split("/")
        tree = self._folder(self._root, folders)
        return self._named(tree, name) if tree is not None else None

    def _folder(self, tree: bytes | None, names: list[str]) -> bytes | None:
        for name in names:
            found = self._named(tree, name) if tree is not None else None
            tree = found.folder if found is not None else None
        return tree

    def _rows(self, tree: bytes) -> list[Row]:
        try:
            return self._trees.rows(tree)
        except KeyError:
            raise missing_object(tree.hex()) from None

    def _named(self, tree: bytes, name: str) -> Item | None:
        try:
            return self._trees.items(tree).get(name)
        except KeyError:
            raise missing_object(tree.hex()) from None

    def _entry(self, found: Item, path: str) -> Entry:
        return Entry(path, entry_kind(found.mode) or EntryKind.FILE, found.id.hex(), self._objects)
