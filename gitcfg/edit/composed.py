"""Lists of nodes that compose with those of their node sets: `$append`, `$prepend` or `$remove` and items."""

from collections.abc import Iterable

from gitcfg.edit.changes import Change, Delete, Insert, Move, Set
from gitcfg.edit.orders import Given
from gitcfg.edit.spots import Meaning
from gitcfg.edit.target import Target, missing, place_in, places_in
from gitcfg.model import GitcfgError

APPEND, PREPEND, REMOVE = "$append", "$prepend", "$remove"


def begun(target: Target, given: Given, at: int | None) -> Iterable[Change]:
    """A node's first item of its own, beside what its set says."""
    if target.inherits(given):
        if at is not None:
            raise _by_hand(target)
        return []
    if at:
        raise _by_hand(target)
    word = APPEND if at is None else PREPEND
    return [Set(target.path, {word: [given.meaning]}, None, target.order)]


def without(target: Target, given: Given) -> Iterable[Change]:
    """What a node does not take over from its set."""
    return [Set(target.path, {REMOVE: [given.meaning]}, None, target.order)]


def added(target: Target, now: dict[str, Meaning], given: Given, at: int | None) -> Iterable[Change]:
    """An item beside what the set says, at a position among the node's own."""
    word, items = _operation(target, now)
    place = place_in(items, given.meaning)
    if at is None and word != REMOVE and (place is not None or target.inherits(given)):
        return []
    if word == REMOVE and place is not None and at is None:
        return _taken(target, word, items, [place])
    if word == APPEND and at is None:
        at = len(items)
    elif word != PREPEND or at is None:
        raise _by_hand(target)
    if place is not None:
        return [Move((*target.path, word), place, min(at, len(items) - 1))]
    return [Insert((*target.path, word), at, given.meaning, given.source)]


def removed(target: Target, now: dict[str, Meaning], given: Given) -> Iterable[Change]:
    """An item that the node no longer adds, or does not take over from its set."""
    word, items = _operation(target, now)
    places = list(places_in(items, given.meaning))
    if target.inherits(given):
        return _disinherited(target, word, items, places, given)
    if word == REMOVE or not places:
        raise missing(target, items, given)
    return _taken(target, word, items, places)


def _disinherited(
    target: Target, word: str, items: list[Meaning], places: list[int], given: Given
) -> Iterable[Change]:
    if word == REMOVE:
        return [] if places else [Insert((*target.path, word), len(items), given.meaning, given.source)]
    if not places or len(places) < len(items):
        raise _by_hand(target)
    return [Set(target.path, {REMOVE: [given.meaning]})]


def _taken(target: Target, word: str, items: list[Meaning], places: list[int]) -> Iterable[Change]:
    """Items gone from an operation's list, and the operation with the last of them."""
    if len(places) == len(items):
        return [Delete(target.path)]
    return [Delete((*target.path, word, place)) for place in reversed(places)]


def _operation(target: Target, now: dict[str, Meaning]) -> tuple[str, list[Meaning]]:
    """What is done with the set's list, and the items. GitcfgError: there are none."""
    word, items = next(iter(now.items()), ("", []))
    if not isinstance(items, list):
        raise _by_hand(target)
    return word, items


def _by_hand(target: Target) -> GitcfgError:
    hint = "Edit the node set, or write the list that shall replace it with `--field KEY=LIST`."
    return GitcfgError(f"What {target.what} says composes with a node set's, so this has no place.", hint)
