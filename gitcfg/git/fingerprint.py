"""One id for what stands at some places of a tree, the same for all kinds of trees."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from gitcfg.git.tree import Entry, EntryKind, Tree


def fingerprint(tree: Tree, places: Iterable[str]) -> str:
    """The id of the files `places` and of all that is below the folders `places`.

    Two are equal exactly if paths, kinds and ids of the entries are; where nothing is, nothing counts.
    """
    return fingerprint_of(entry for place in places for entry in _at(tree, place))


def fingerprint_of(entries: Iterable[Entry]) -> str:
    """The id of entries, in whatever order and however often they come."""
    # No path holds a NUL, and what follows the path has a fixed length and then a fixed set of ends.
    # Entries nearly always come in order: a dictionary keeps it, and what is sorted is sorted fast.
    told = dict.fromkeys(f"{entry.path}\0{entry.id}{_mark(entry)}\0" for entry in entries)
    return hashlib.sha256("".join(sorted(told)).encode("utf-8", "surrogatepass")).hexdigest()


def changed_paths(old: Tree, new: Tree, places: Iterable[str]) -> frozenset[str]:
    """The paths at or below some places at which two trees differ."""
    differing = (place for place in places if not _same(old, new, place))
    return frozenset(path for place in differing for path, _ in _told(old, place) ^ _told(new, place))


@runtime_checkable
class _Numbered(Protocol):
    """A tree whose folders have ids of their own."""

    def token(self, folder: str) -> str:
        """The same for folders in which the same stands."""
        ...


def _same(old: Tree, new: Tree, place: str) -> bool:
    """Is it sure that the same stands at a place, without looking at what does?"""
    if not (isinstance(old, _Numbered) and isinstance(new, _Numbered)):
        return False
    return old.token(place) == new.token(place)


def _told(tree: Tree, place: str) -> set[tuple[str, tuple[str, str]]]:
    return {(entry.path, (entry.id, entry.kind.value)) for entry in _at(tree, place)}


def _at(tree: Tree, place: str) -> Iterator[Entry]:
    yield from tree.entries(place)
    itself = tree.entry(place)
    if itself is not None:
        yield itself


def _mark(entry: Entry) -> str:
    return "" if entry.kind is EntryKind.FILE else entry.kind.value
