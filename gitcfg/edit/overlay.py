"""A tree with some files other than they are: what an edit would make of a repository."""

from collections.abc import Iterator, Mapping

from gitcfg.git.tree import DictTree, Entry, EntryKind, Tree, sort_entries


class OverlayTree:
    """A tree in which some files have another content, or, without any, are gone."""

    commit: str | None = None

    def __init__(self, tree: Tree, files: Mapping[str, bytes | None]) -> None:
        self._tree = tree
        self._gone = frozenset(files)
        self._new = DictTree({path: content for path, content in files.items() if content is not None})

    def entries(self, folder: str) -> Iterator[Entry]:
        """What stood there, but for what is other, and that."""
        found = list(self._tree.entries(folder))
        if any(entry.path == folder and entry.kind is not EntryKind.FILE for entry in found):
            return iter(found)
        kept = [entry for entry in found if entry.path not in self._gone]
        return iter(sort_entries([*kept, *self._new.entries(folder)]))

    def entry(self, path: str) -> Entry | None:
        """What is at a path."""
        return self._new.entry(path) if path in self._gone else self._tree.entry(path)

    def read(self, entry: Entry) -> bytes:
        """The content of an entry."""
        return self._new.read(entry) if entry.source is self._new else self._tree.read(entry)
