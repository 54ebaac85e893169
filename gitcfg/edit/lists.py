"""Items put into lists of definitions and taken out: includes, features, memberships."""

from collections.abc import Iterable, Iterator

import msgspec

from gitcfg.edit.changes import Change, Delete, Insert, Move, Path, Set
from gitcfg.edit.orders import Given
from gitcfg.edit.spots import Meaning
from gitcfg.edit.text import same
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown

APPEND, PREPEND, REMOVE = "$append", "$prepend", "$remove"


class Target(msgspec.Struct, frozen=True):
    """A list: where it is, what it says (None: it is not there), and what it is called in messages.

    `below` is what the list says of a node set that the node is in: a list of the node's own would
    replace it. None: the node is in no set, or it is not about a node.
    """

    path: Path
    now: Meaning | None
    what: str
    order: tuple[str, ...] = ()
    below: tuple[str, ...] | None = None

    @property
    def items(self) -> list[Meaning]:
        """What is in it."""
        return self.now if isinstance(self.now, list) else []


def added(target: Target, given: Given, at: int | None) -> Iterable[Change]:
    """An item at a position; one that is there already goes to that position, if one was said."""
    if isinstance(target.now, dict):
        return _added_by_operation(target, target.now, given, at)
    place = next((i for i, item in enumerate(target.items) if same(item, given.meaning)), None)
    if place is not None:
        to = place if at is None else min(at, len(target.items) - 1)
        return [Move(target.path, place, to)]
    if target.now is None and target.below is not None:
        return _composed(target, given, at)
    end = len(target.items) if at is None else at
    return [Insert(target.path, end, given.meaning, given.source, target.order)]


def _composed(target: Target, given: Given, at: int | None) -> Iterable[Change]:
    """A list of the node's own that keeps what its set says."""
    if name_of(given.meaning) in (target.below or ()):
        if at is not None:
            raise _by_hand(target)
        return []
    if at:
        raise _by_hand(target)
    word = APPEND if at is None else PREPEND
    return [Set(target.path, {word: [given.meaning]}, None, target.order)]


def _added_by_operation(
    target: Target, now: dict[str, Meaning], given: Given, at: int | None
) -> Iterable[Change]:
    word, items = next(iter(now.items()), ("", []))
    if not isinstance(items, list):
        raise _by_hand(target)
    place = next((i for i, item in enumerate(items) if same(item, given.meaning)), None)
    inherited = name_of(given.meaning) in (target.below or ())
    if at is None and word != REMOVE and (place is not None or inherited):
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


def removed(target: Target, given: Given) -> Iterable[Change]:
    """An item gone: all instances of a feature, where only its name is said."""
    if isinstance(target.now, dict):
        return _removed_by_operation(target, target.now, given)
    places = list(_places(target.items, given.meaning))
    if not places and target.now is None and name_of(given.meaning) in (target.below or ()):
        return [Set(target.path, {REMOVE: [given.meaning]}, None, target.order)]
    if not places:
        raise _missing(target, target.items, given)
    if len(places) == len(target.items) and target.below is None:
        return [Delete(target.path)]
    return [Delete((*target.path, place)) for place in reversed(places)]


def _removed_by_operation(target: Target, now: dict[str, Meaning], given: Given) -> Iterable[Change]:
    word, items = next(iter(now.items()), ("", []))
    if not isinstance(items, list):
        raise _by_hand(target)
    places = list(_places(items, given.meaning))
    if word == REMOVE and name_of(given.meaning) in (target.below or ()):
        return [] if places else [Insert((*target.path, word), len(items), given.meaning, given.source)]
    if word == REMOVE or not places:
        raise (
            _by_hand(target)
            if name_of(given.meaning) in (target.below or ())
            else _missing(target, items, given)
        )
    if name_of(given.meaning) not in (target.below or ()):
        return _taken(target, word, items, places)
    if len(places) < len(items):
        raise _by_hand(target)
    return [Set(target.path, {REMOVE: [given.meaning]})]


def _taken(target: Target, word: str, items: list[Meaning], places: list[int]) -> Iterable[Change]:
    """Items gone from an operation's list, and the operation with the last of them."""
    if len(places) == len(items):
        return [Delete(target.path)]
    return [Delete((*target.path, word, place)) for place in reversed(places)]


def name_of(item: Meaning) -> str:
    """The name in an item: of an instance, the feature's."""
    found = item.get("feature") if isinstance(item, dict) else item
    return found if isinstance(found, str) else ""


def _places(items: list[Meaning], wanted: Meaning) -> Iterator[int]:
    for place, item in enumerate(items):
        if same(item, wanted) or (isinstance(wanted, str) and name_of(item) == wanted):
            yield place


def _missing(target: Target, items: list[Meaning], given: Given) -> GitcfgError:
    name = name_of(given.meaning)
    return GitcfgError(f"{shown(name)} is not in {target.what}.", did_you_mean(name, map(name_of, items)))


def _by_hand(target: Target) -> GitcfgError:
    hint = "Edit the node set, or write the list that shall replace it with `--field KEY=LIST`."
    return GitcfgError(f"What {target.what} says composes with a node set's, so this has no place.", hint)
