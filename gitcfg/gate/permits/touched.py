"""What a change touches: every thing that rules can name, with where it stands."""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import NamedTuple

from gitcfg.gate.permits.excerpt import NOTHING, excerpts
from gitcfg.gate.permits.said import statements
from gitcfg.gate.permits.statement import Key, Statement, Thing, reordered
from gitcfg.gate.permits.whole import Whole
from gitcfg.git.tree import Tree
from gitcfg.load.root import is_repository
from gitcfg.model import Origin


class Touch(NamedTuple):
    """One thing, by one piece of what is said."""

    thing: Thing
    key: Key


Touched = Mapping[Touch, Origin]
"""What is touched, and where it stands: in what is new, or, of what is gone, in what was before."""


def touched(old: Tree | None, new: Tree) -> Touched:
    """What differs between two versions: not comments, the order of keys, nor in which file it stands."""
    before = old if old is not None else NOTHING
    # Where one is no configuration, all that the other says came or went, whatever stands there.
    ends = excerpts(before, new) if is_repository(before) and is_repository(new) else (before, new)
    were, are = (statements(end, Whole(tree)) for end, tree in zip(ends, (before, new), strict=True))
    return dict(_touches(were, are))


def touched_by_all(parents: Iterable[Tree | None], new: Tree) -> Touched:
    """What a commit touches: of a merge what differs from every parent, so that what it takes over is not."""
    changes = [touched(parent, new) for parent in parents] or [touched(None, new)]
    return reduce(lambda one, other: {touch: one[touch] for touch in one if touch in other}, changes)


def _touches(were: Mapping[Key, Statement], are: Mapping[Key, Statement]) -> Iterator[tuple[Touch, Origin]]:
    for key in dict.fromkeys((*were, *are)):
        old, new = were.get(key), are.get(key)
        if not _alike(old, new):
            origin = _place(key, old or _NONE, are)
            for thing in _differing(old or _NONE, new or _NONE):
                yield Touch(thing, key), origin


def _place(key: Key, old: Statement, are: Mapping[Key, Statement]) -> Origin:
    """Where it is now; of what is gone the definition that it was of, or else the file."""
    now = are.get(key) or are.get(key[:2])
    return now.origin if now is not None else Origin(old.origin.file)


def _alike(old: Statement | None, new: Statement | None) -> bool:
    if old is None or new is None:
        return False
    return old.text == new.text and not reordered(old.items, new.items)


def _differing(old: Statement, new: Statement) -> dict[Thing, None]:
    moved = reordered(old.items, new.items)
    return dict.fromkeys((*old.about, *new.about, *moved))


_NONE = Statement("", Origin(""), ())
