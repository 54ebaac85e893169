"""Changes of what is decided, those that are alike as one."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from gitcfg.solve.fleet import Change, Deed


class _FoldedChange(msgspec.Struct, frozen=True):
    """Changes of one rule that differ in their slots alone; `to`: where what was there goes."""

    change: Change
    slots: tuple[str, ...]
    to: tuple[str, ...] = ()


def _fold_changes(changes: Iterable[Change]) -> Iterator[_FoldedChange]:
    """Rule by rule; as many places that come as go are moves."""
    for _, group in groupby(changes, key=lambda change: change.rule):
        alike: dict[tuple[object, ...], list[Change]] = {}
        for change in group:
            alike.setdefault((change.param, change.what, change.deed, change.old, change.new), []).append(
                change
            )
        yield from _fold_moves(
            [_FoldedChange(found[0], tuple([one.slot for one in found])) for found in alike.values()]
        )


def _fold_moves(found: list[_FoldedChange]) -> Iterator[_FoldedChange]:
    added = [one for one in found if not one.change.param and one.change.deed is Deed.ADD]
    removed = [one for one in found if not one.change.param and one.change.deed is Deed.REMOVE]
    moves = len(added) == len(removed) == 1 and len(added[0].slots) == len(removed[0].slots)
    for one in found:
        if not moves or one.change.param:
            yield one
        elif one.change.deed is Deed.REMOVE:
            yield _FoldedChange(one.change, one.slots, added[0].slots)
