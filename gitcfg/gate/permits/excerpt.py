"""Of two trees only what differs, with all that could have the same names: enough to see what changed."""

from collections.abc import Iterator, Set
from typing import NamedTuple

from gitcfg.git.tree import DictTree, Entry, Tree, changed_paths
from gitcfg.model.folders import FOLDERS, SETTINGS, SHEETS, SIGNERS, TEXTS

NOTHING: Tree = DictTree({})
"""What stands before a first commit."""
_SHARED = (*SHEETS, "keys")
"""Many definitions a file: which file one stands in says nothing."""


class Place(NamedTuple):
    """Files that can hold the same definition; no name: all of a folder."""

    folder: str
    name: str = ""


class Excerpt:
    """A tree of which only some files are seen, and the settings."""

    def __init__(self, tree: Tree, places: Set[Place]) -> None:
        self.commit = tree.commit
        self._tree = tree
        self._places = places
        self._folders = {place.folder for place in places}

    def entries(self, folder: str) -> Iterator[Entry]:
        if folder not in self._folders:
            return iter(())  # not to be gone through: of nodes there are thousands
        return (entry for entry in self._tree.entries(folder) if self._shows(entry.path))

    def entry(self, path: str) -> Entry | None:
        return self._tree.entry(path) if self._shows(path) else None

    def read(self, entry: Entry) -> bytes:
        return self._tree.read(entry)

    def _shows(self, path: str) -> bool:
        return path == SETTINGS or place_of(path) in self._places


def take_excerpts(old: Tree, new: Tree) -> tuple[Tree, Tree]:
    """Both sides of a change."""
    places = {place_of(path) for path in changed_paths(old, new, (SETTINGS, SIGNERS, *FOLDERS))}
    return Excerpt(old, places), Excerpt(new, places)


def place_of(path: str) -> Place:
    """Where a file stands, as far as names go."""
    folder, _, rest = path.partition("/")
    if folder in _SHARED:
        return Place(folder)
    return Place(folder, rest if folder in TEXTS else rest.rpartition("/")[2].rpartition(".")[0])
