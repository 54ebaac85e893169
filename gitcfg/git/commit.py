"""Trees in git's object database: a commit's, and the index's."""

from collections.abc import Iterator

import pygit2
from pygit2.enums import FileMode

from gitcfg.git.tree import Entry, EntryKind


class CommitTree:
    """The tree of a commit, below a prefix."""

    def __init__(self, git: pygit2.Repository, commit: pygit2.Commit, prefix: str) -> None:
        self.git = git
        self.commit: str | None = str(commit.id)
        self.root = _descend(commit.tree, prefix.split("/") if prefix else [])

    def entries(self, folder: str) -> Iterator[Entry]:
        below = _descend(self.root, [folder])
        return iter(sorted(self._walk(below, folder))) if below is not None else iter(())

    def entry(self, path: str) -> Entry | None:
        *folders, name = path.split("/")
        below = _descend(self.root, folders)
        for found in below or ():
            if _text(found) == name and found.filemode != FileMode.TREE:
                return self._entry(found, path)
        return None

    def read(self, entry: Entry) -> bytes:
        if entry.kind is not EntryKind.FILE:
            return b""
        return self.git.odb.read(pygit2.Oid(hex=entry.key))[1]

    def _walk(self, tree: pygit2.Tree, path: str) -> Iterator[Entry]:
        for found in tree:
            inner = f"{path}/{_text(found)}"
            if isinstance(found, pygit2.Tree):
                yield from self._walk(found, inner)
            else:
                yield self._entry(found, inner)

    def _entry(self, found: pygit2.Object, path: str) -> Entry:
        kind = _kind(found.filemode)
        size = self.git.odb.read_header(found.id)[1] if kind is EntryKind.FILE else 0
        return Entry(path, kind, str(found.id), size)


class IndexTree:
    """What is staged, or what a merge has made."""

    commit: str | None = None

    def __init__(self, git: pygit2.Repository, prefix: str, index: pygit2.Index) -> None:
        self.git = git
        inside = f"{prefix}/" if prefix else ""
        self.files = {
            found.path.removeprefix(inside): found for found in index if found.path.startswith(inside)
        }

    def entries(self, folder: str) -> Iterator[Entry]:
        return iter(sorted(self._entry(path) for path in self.files if path.startswith(folder + "/")))

    def entry(self, path: str) -> Entry | None:
        return self._entry(path) if path in self.files else None

    def read(self, entry: Entry) -> bytes:
        if entry.kind is not EntryKind.FILE:
            return b""
        return self.git.odb.read(pygit2.Oid(hex=entry.key))[1]

    def _entry(self, path: str) -> Entry:
        found = self.files[path]
        kind = _kind(found.mode)
        size = self.git.odb.read_header(found.id)[1] if kind is EntryKind.FILE else 0
        return Entry(path, kind, str(found.id), size)


def _kind(mode: int) -> EntryKind:
    if mode == FileMode.LINK:
        return EntryKind.LINK
    return EntryKind.SUBMODULE if mode == FileMode.COMMIT else EntryKind.FILE


def _text(found: pygit2.Object) -> str:
    """An entry's name; bytes that are no text are written as escapes."""
    return (found.raw_name or b"").decode("utf-8", "backslashreplace")


def _descend(tree: pygit2.Tree | None, names: list[str]) -> pygit2.Tree | None:
    for name in names:
        found = next((entry for entry in tree or () if _text(entry) == name), None)
        tree = found if isinstance(found, pygit2.Tree) else None
    return tree
