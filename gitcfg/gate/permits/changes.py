"""What a change touches: the things that rules can name, by excerpts of what differs between two trees."""

from collections.abc import Iterator, Mapping, Set
from itertools import chain
from typing import NamedTuple

from gitcfg.gate.permits.rules import Thing
from gitcfg.gate.permits.statements import (
    Key,
    Statement,
    Version,
    find_moved,
    is_readable,
    node_things,
    read_statements,
)
from gitcfg.git.tree import DictTree, Entry, Tree, changed_paths
from gitcfg.model import Origin
from gitcfg.model.names import FOLDERS, SETTINGS, SHEETS, SIGNERS, TEXTS

NOTHING: Tree = DictTree({})
"""What stands before a first commit."""
_SHARED = (*SHEETS, "keys")
"""Many definitions a file: which file one stands in says nothing."""


class Place(NamedTuple):
    """Files that can hold the same definition; without a name: all of a folder."""

    folder: str
    name: str = ""


class Excerpt:
    """A tree of which only some files and the settings are seen."""

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
    """Return both sides of a change: what differs, with all that could have the same names."""
    places = {place_of(path) for path in changed_paths(old, new, (SETTINGS, SIGNERS, *FOLDERS))}
    return Excerpt(old, places), Excerpt(new, places)


def place_of(path: str) -> Place:
    """Return the place of a file, as far as names go."""
    folder, _, rest = path.partition("/")
    if folder in _SHARED:
        return Place(folder)
    return Place(folder, rest if folder in TEXTS else rest.rpartition("/")[2].rpartition(".")[0])


class Touch(NamedTuple):
    """A piece that differs: what it is about, in parts that pieces share, and where it is.

    `nodes` are members that come or go; `itself` says that more differs than these. `now` is the piece as
    the new version has it; None: it is gone.
    """

    about: tuple[tuple[Thing, ...], ...]
    nodes: frozenset[str]
    itself: bool
    origin: Origin
    now: Statement | None

    def things(self) -> Iterator[Thing]:
        """Yield each thing, perhaps more than once."""
        return chain(chain.from_iterable(self.about), node_things(self.nodes))


Touches = Mapping[Key, Touch]
"""By piece what is touched. It stands in what is new, or, of what is gone, where it was said."""


def find_touched(old: Tree | None, new: Tree) -> Touches:
    """Return what differs between two versions, apart from comments, the order of keys, and the file that
    holds it.
    """
    before = old if old is not None else NOTHING
    # Where one cannot be read, all that the other says came or went, whatever stands there.
    ends = take_excerpts(before, new) if is_readable(before) and is_readable(new) else (before, new)
    were, are = (read_statements(end, Version(tree)) for end, tree in zip(ends, (before, new), strict=True))
    return dict(_find_touches(were, are))


def is_same(one: Statement | None, other: Statement | None) -> bool:
    """Return whether two versions of a piece say the same, whatever their members are."""
    if one is None or other is None:
        return one is other
    return one.text == other.text and not find_moved(one.items, other.items)


def _find_touches(were: Mapping[Key, Statement], are: Mapping[Key, Statement]) -> Iterator[tuple[Key, Touch]]:
    for key in dict.fromkeys((*were, *are)):
        old, new = were.get(key) or _NONE, are.get(key) or _NONE
        moved, nodes = find_moved(old.items, new.items), old.members ^ new.members
        itself = key not in were or key not in are or old.text != new.text or bool(moved)
        if itself or nodes:
            about = (old.about, old.besides(), new.about, new.besides(), moved)
            if nodes or any(about):
                yield key, Touch(about, nodes, itself, _find_place(key, old, are), are.get(key))


def _find_place(key: Key, old: Statement, are: Mapping[Key, Statement]) -> Origin:
    """Return where a piece is now; if it is gone, the definition it was part of, or else the file."""
    now = are.get(key) or are.get(key[:2])
    return now.origin if now is not None else Origin(old.origin.file)


_NONE = Statement("", Origin(""), ())
