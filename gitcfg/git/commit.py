"""The tree of a commit, read from git's own tree objects."""

from collections.abc import Iterator
from itertools import islice

import pygit2

from gitcfg.git.differences import Trees
from gitcfg.git.objects import Objects, kind_of, missing, text
from gitcfg.git.rows import Item, Row
from gitcfg.git.tree import Entry, EntryKind, in_order
from gitcfg.model import GitcfgError
from gitcfg.model.kinds import FOLDERS, SETTINGS

Listings = dict[tuple[str, str], list[Entry]]

_MOST_LISTED = 64
MOST_FOLDERS = 256
"""Folders in each other: whoever pushes may nest as many as they like."""
MOST_ENTRIES = 1_000_000
"""Files below a folder: a few folders that name each other ten times each make as many as one likes."""


class CommitTree:
    """The tree of a commit, below a prefix.

    `listed` are listings of folders by path and id: commits that are neighbours have most in common.
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
        """git's id of what stands there; nothing has none."""
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
            return in_order(entries)
        itself = self._entry(found, folder)
        return [] if itself.kind is EntryKind.FILE else [itself]

    def entry(self, path: str) -> Entry | None:
        found = self._item(path)
        return self._entry(found, path) if found is not None and found.folder is None else None

    def read(self, entry: Entry) -> bytes:
        return self._objects.read(entry)

    def _files(self) -> Iterator[str]:
        """The ids of all files that gitcfg reads."""
        settings = self.entry(SETTINGS)
        yield from () if settings is None else (settings.key,)
        yield from (entry.key for folder in FOLDERS for entry in self.entries(folder))

    def _walk(self, tree: bytes, path: str) -> Iterator[Entry]:
        if path.count("/") > MOST_FOLDERS:
            raise GitcfgError(f"Folders lie too deep in each other: {path[:80]}...")
        # One pass of a regular expression: 10,000 entries in 12 ms, as objects of git's library in 49.
        for mode, name, id in self._rows(tree):
            inner = f"{path}/{text(name)}"
            kind = EntryKind.FILE if mode in _PLAIN else kind_of(int(mode, 8))
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
            raise missing(tree.hex()) from None

    def _named(self, tree: bytes, name: str) -> Item | None:
        try:
            return self._trees.items(tree).get(name)
        except KeyError:
            raise missing(tree.hex()) from None

    def _entry(self, found: Item, path: str) -> Entry:
        return Entry(path, kind_of(found.mode) or EntryKind.FILE, found.id.hex(), self._objects)


_PLAIN = frozenset((b"100644", b"100755"))
