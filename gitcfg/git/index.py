"""The tree that would be committed, or that a merge has made."""

import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from pathlib import Path

import pygit2

from gitcfg.git.differences import Trees
from gitcfg.git.index_file import read_index
from gitcfg.git.objects import FOLDER, Objects, kind_of, shown
from gitcfg.git.staged import Index, Staged, skipped
from gitcfg.git.tree import Entry, EntryKind
from gitcfg.model.kinds import FOLDERS, SETTINGS

Placed = tuple[int, bytes]
"""A mode, and the id of what stands there."""


class IndexTree:
    """What is staged, or what a merge has made: files by git's path, of which those below a prefix count."""

    commit: str | None = None

    def __init__(self, git: pygit2.Repository, prefix: str, files: Mapping[str, Placed]) -> None:
        self._objects = Objects(git, self._ids)
        inside = f"{prefix}/" if prefix else ""
        below = (path for path in files if path.startswith(inside))
        self._files = {shown(path.removeprefix(inside)): files[path] for path in below}
        self._paths = sorted(self._files)

    def entries(self, folder: str) -> Iterator[Entry]:
        itself = self.entry(folder)
        if itself is not None:
            return iter(() if itself.kind is EntryKind.FILE else (itself,))
        first, last = (bisect_left(self._paths, folder + end) for end in ("/", AFTER))
        return iter([self._entry(path) for path in self._paths[first:last]])

    def entry(self, path: str) -> Entry | None:
        return self._entry(path) if path in self._files else None

    def read(self, entry: Entry) -> bytes:
        return self._objects.read(entry)

    def _ids(self) -> Iterator[str]:
        places = (self._entry(path) for path in self._paths if path.partition("/")[0] in (SETTINGS, *FOLDERS))
        return (entry.key for entry in places if entry.kind is EntryKind.FILE)

    def _entry(self, path: str) -> Entry:
        mode, id = self._files[path]
        return Entry(path, kind_of(mode) or EntryKind.FILE, id.hex(), self._objects)


AFTER = chr(ord("/") + 1)


def staged(index: Index) -> dict[str, Placed]:
    """What would be committed of what is staged."""
    return {path: (found.mode, found.id) for path, found in index.files.items() if not found.intended}


def whole_index(git: pygit2.Repository, file: Path) -> Index:
    """The index in a file, with all files below folders that are left out of the work tree.

    GitcfgError: it cannot be understood.
    """
    index = read_index(file)
    folders = [path for path, found in index.files.items() if found.mode >> 12 == FOLDER]
    if not folders:
        return index
    trees = Trees(git)
    files = dict(index.files)
    for path in folders:
        files.update(_below(trees, files.pop(path).id, path))
    return Index(files, index.written)


def _below(trees: Trees, tree: bytes, path: str) -> Iterator[tuple[str, Staged]]:
    for mode, name, id in trees.rows(tree):
        inner = path + os.fsdecode(name)
        if int(mode, 8) >> 12 == FOLDER:
            yield from _below(trees, id, f"{inner}/")
        else:
            yield inner, skipped(int(mode, 8), id)


def merged(index: pygit2.Index) -> dict[str, Placed]:
    """What a merge has made."""
    return {found.path: (int(found.mode), found.id.raw) for found in index}
