"""Trees by their ids, and what differs between two: neighbours have nearly all of their bytes in common."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache, partial

import msgspec
import pygit2

from gitcfg.git import rows
from gitcfg.git.rows import ITEM, Items, Row, named
from gitcfg.git.store import Store

_BLOCK = 1 << 12
_MOST = 64


class Changed(msgspec.Struct, frozen=True, gc=False):
    """A path whose file differs between two trees; a side on which it has none is None."""

    path: str
    old: bytes | None
    new: bytes | None


class Trees:
    """The trees of a repository."""

    def __init__(self, git: pygit2.Repository) -> None:
        self._odb = Store(git)
        self._known: dict[bytes, tuple[bytes, list[int]]] = {}
        self.items = lru_cache(maxsize=1 << 12)(partial(rows.items, self._odb))

    def raw(self, tree: bytes) -> bytes:
        """A tree as git keeps it."""
        return rows.raw(self._odb, tree)

    def rows(self, tree: bytes) -> list[Row]:
        """What a tree holds, in git's order. GitcfgError: it is not formed as a tree is."""
        return rows.rows(self._odb, tree)

    def changed(self, old: bytes | None, new: bytes | None, path: str = "") -> Iterator[Changed]:
        """The files that differ between two trees, in order of name."""
        if old == new:
            return
        ours, theirs = self._different(old, new)
        for name in sorted(ours.keys() | theirs.keys()):
            before, after = ours.get(name), theirs.get(name)
            was, now = (item.file if item else None for item in (before, after))
            if was != now:
                yield Changed(path + name, was, now)
            within, inside = (item.folder if item else None for item in (before, after))
            yield from self.changed(within, inside, f"{path}{name}/")

    def _different(self, old: bytes | None, new: bytes | None) -> tuple[Items, Items]:
        """What of two trees is not the same, and perhaps some that is."""
        if old is None or new is None:
            return self.items(old) if old else {}, self.items(new) if new else {}
        (before, starts), after = self._row(old), self.raw(new)
        first = _first(starts, before, after)
        start = starts[first] if first < len(starts) else len(before)
        tail = _common(before[start:][::-1], after[start:][::-1])
        last = bisect_left(starts, len(before) - tail, first)
        end = starts[last] if last < len(starts) else len(before)
        more = len(after) - len(before)
        found = list(ITEM.finditer(after, start, end + more))
        if not _whole(found, start, end + more):
            return self.items(old), self.items(new)
        rest = starts[last:] if more == 0 else [place + more for place in starts[last:]]
        self._keep(new, after, [*starts[:first], *(match.start() for match in found), *rest])
        return named(ITEM.finditer(before, start, end)), named(found)

    def _row(self, tree: bytes) -> tuple[bytes, list[int]]:
        """A tree as it is kept, and where each item begins."""
        if tree not in self._known:
            data = self.raw(tree)
            self._keep(tree, data, [match.start() for match in ITEM.finditer(data)])
        return self._known[tree]

    def _keep(self, tree: bytes, data: bytes, starts: list[int]) -> None:
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[tree] = (data, starts)


def _first(starts: list[int], before: bytes, after: bytes) -> int:
    """The number of the first item that is not the same."""
    place = _common(before, after)
    return len(starts) if place == len(before) else bisect_right(starts, place) - 1


def _common(one: bytes, two: bytes) -> int:
    """How many bytes two beginnings have in common."""
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


def _whole(found: list[re.Match[bytes]], start: int, end: int) -> bool:
    """Do items fill the place between, one after the other?"""
    edges = [start, *(match.end() for match in found)]
    return edges[-1] == end and all(match.start() == edge for match, edge in zip(found, edges, strict=False))
