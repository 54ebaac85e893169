"""What a change touches: every thing that rules can name, with where it stands."""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import chain
from typing import NamedTuple

from gitcfg.gate.permits.excerpt import NOTHING, excerpts
from gitcfg.gate.permits.said import is_read, statements
from gitcfg.gate.permits.statement import Key, Statement, Thing, named, reordered
from gitcfg.gate.permits.whole import Whole
from gitcfg.git.tree import Tree
from gitcfg.model import Origin


class Touch(NamedTuple):
    """What one piece is about that differs, in parts that pieces share, and where it stands."""

    parts: tuple[tuple[Thing, ...], ...]
    origin: Origin

    def things(self) -> Iterator[Thing]:
        """Each, perhaps more than once."""
        return chain.from_iterable(self.parts)


Touched = Mapping[Key, Touch]
"""By piece what is touched. It stands in what is new, or, of what is gone, where it was said."""


def touched(old: Tree | None, new: Tree) -> Touched:
    """What differs between two versions: not comments, the order of keys, nor in which file it stands."""
    before = old if old is not None else NOTHING
    # Where one cannot be read, all that the other says came or went, whatever stands there.
    ends = excerpts(before, new) if is_read(before) and is_read(new) else (before, new)
    were, are = (statements(end, Whole(tree)) for end, tree in zip(ends, (before, new), strict=True))
    return dict(_touches(were, are))


def touched_by_all(parents: Iterable[Tree | None], new: Tree) -> Touched:
    """What a commit touches: of a merge what differs from every parent, so that what it takes over is not."""
    changes = [touched(parent, new) for parent in parents] or [touched(None, new)]
    return reduce(_common, changes)


def less(change: Touched, others: Iterable[Touched]) -> Touched:
    """A change without what others touch by the same pieces."""
    brought: dict[Key, set[Thing]] = {}
    for other in others:
        for key in change.keys() & other.keys():
            brought.setdefault(key, set()).update(other[key].things())
    return {
        key: _only(touch, set(touch.things()) - brought[key]) if key in brought else touch
        for key, touch in change.items()
    }


def _common(one: Touched, other: Touched) -> Touched:
    """What two changes touch by the same pieces."""
    both = {key: (touch, other[key]) for key, touch in one.items() if key in other}
    return {
        key: ours if ours.parts == theirs.parts else _only(ours, {*ours.things()} & {*theirs.things()})
        for key, (ours, theirs) in both.items()
    }


def _only(touch: Touch, things: set[Thing]) -> Touch:
    return Touch((tuple(sorted(things)),), touch.origin)


def _touches(were: Mapping[Key, Statement], are: Mapping[Key, Statement]) -> Iterator[tuple[Key, Touch]]:
    for key in dict.fromkeys((*were, *are)):
        old, new = were.get(key), are.get(key)
        parts = _differing(old or _NONE, new or _NONE, alike=old is not None and new is not None)
        if any(parts):
            yield key, Touch(parts, _place(key, old or _NONE, are))


def _place(key: Key, old: Statement, are: Mapping[Key, Statement]) -> Origin:
    """Where it is now; of what is gone the definition that it was of, or else the file."""
    now = are.get(key) or are.get(key[:2])
    return now.origin if now is not None else Origin(old.origin.file)


def _differing(old: Statement, new: Statement, alike: bool) -> tuple[tuple[Thing, ...], ...]:
    """What two versions of a piece are about, if it means something else or is for others, and for whom."""
    nodes = named(old.members ^ new.members)
    moved = reordered(old.items, new.items)
    if alike and old.text == new.text and not moved and not nodes:
        return ()
    return (old.about, old.besides(), new.about, new.besides(), moved, nodes)


_NONE = Statement("", Origin(""), ())
