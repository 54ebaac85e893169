"""Nodes whose last installation failed at what they are to run by now."""

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from gitcfg.cache import Cache
from gitcfg.inventory.described import digests
from gitcfg.inventory.guests import Older, unchanged
from gitcfg.library import Fleet

if TYPE_CHECKING:
    from gitcfg.state import NodeState

_COMMITS = 8
"""So many older commits are looked at, those at which most nodes failed: each takes as long as a check."""


def failing(
    fleet: Fleet, seen: Iterable["NodeState"], cache: Cache, older: Older, today: date
) -> frozenset[str]:
    """The nodes that failed at a commit, or at an older one that means the same for them.

    A failure at anything else is over: it was mended or taken back since.
    """
    failed: dict[str, list[str]] = {}
    for one in seen:
        if one.result is not None and one.result.failed:
            failed.setdefault(one.result.commit, []).append(one.node)
    found = set(failed.pop(fleet.commit, ())) if fleet.commit is not None else set()
    for commit in sorted(failed, key=lambda each: -len(failed[each]))[:_COMMITS]:
        old = older(commit)
        if old is not None:
            with old:
                found |= _same(old, fleet, failed[commit], cache, today)
    return frozenset(found)


def _same(old: Fleet, new: Fleet, names: list[str], cache: Cache, today: date) -> set[str]:
    """The nodes for which two commits mean the same."""
    known = [name for name in names if name in old and name in new]
    before, after = digests(old, known, cache), digests(new, known, cache)
    guests = [name for name in names if name not in old and name not in new]
    same = {name for name in known if before[name] == after[name]}
    return same | unchanged(old, new, guests, today) if guests else same
