"""Items added to lists of definitions and removed, also where a node's list composes with its set's."""

import msgspec

from gitcfg.edit.yaml.changes import Change, Delete, Given, Insert, Move, Path, Set
from gitcfg.edit.yaml.tree import Meaning, is_same
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown


class EditedList(msgspec.Struct, frozen=True):
    """A list: its place, its items (None: there is no list), and its name in messages.

    `below` is the list of the node set that the node is in: a plain list of the node would replace it. None:
    the node is in no set, or the definition is not a node.
    """

    path: Path
    now: Meaning | None
    what: str
    order: tuple[str, ...] = ()
    below: list[Meaning] | None = None

    @property
    def items(self) -> list[Meaning]:
        """The items of the list."""
        return self.now if isinstance(self.now, list) else []

    def is_inherited(self, given: Given) -> bool:
        """Return whether the node set lists the item."""
        return name_of(given.meaning) in map(name_of, self.below or ())


def name_of(item: Meaning) -> str:
    """Return the name of an item; for an instance, the name of its feature."""
    found = item.get("feature") if isinstance(item, dict) else item
    return found if isinstance(found, str) else ""


def _find_item(items: list[Meaning], item: Meaning) -> int | None:
    return next((place for place, other in enumerate(items) if is_same(other, item)), None)


def _find_items(items: list[Meaning], item: Meaning) -> list[int]:
    """Return the positions of an item; if only the name of a feature is given, those of all its instances."""
    return [
        place
        for place, other in enumerate(items)
        if is_same(other, item) or (isinstance(item, str) and name_of(other) == item)
    ]


def _missing(target: EditedList, items: list[Meaning], given: Given) -> GitcfgError:
    name = name_of(given.meaning)
    return GitcfgError(f"{shown(name)} is not in {target.what}.", did_you_mean(name, map(name_of, items)))


# Lists of nodes that compose with those of their node sets: `$append`, `$prepend` or `$remove` and items.

APPEND, PREPEND, REMOVE = "$append", "$prepend", "$remove"


def _add_first(target: EditedList, given: Given, at: int | None) -> list[Change]:
    """Return the changes that give a node its first item beside its set's."""
    inherited = target.is_inherited(given)
    if inherited and at is None:
        return []
    if inherited or at:
        return _set_list(target, _placed(target.below or [], given, at))
    word = APPEND if at is None else PREPEND
    return [Set(target.path, {word: [given.meaning]}, None, target.order)]


def _add_to_operation(
    target: EditedList, now: dict[str, Meaning], given: Given, at: int | None
) -> list[Change]:
    """Return the changes that add an item to those that a node has beside its set's."""
    word, items = _operation(target, now)
    place = _find_item(items, given.meaning)
    if at is None and word != REMOVE and (place is not None or target.is_inherited(given)):
        return []
    if word == REMOVE and place is not None and at is None:
        return _delete_from_operation(target, word, items, [place])
    if word == APPEND and at is None:
        at = len(items)
    elif word != PREPEND or at is None:
        return _set_list(target, _placed(_composed(target, word, items), given, at))
    if place is not None:
        return [Move((*target.path, word), place, min(at, len(items) - 1))]
    return [Insert((*target.path, word), at, given.meaning, given.source)]


def _remove_from_operation(target: EditedList, now: dict[str, Meaning], given: Given) -> list[Change]:
    """Return the changes after which a node does not add an item, or does not inherit it from its set."""
    word, items = _operation(target, now)
    places = _find_items(items, given.meaning)
    if not target.is_inherited(given):
        if word == REMOVE or not places:
            raise _missing(target, items, given)
        return _delete_from_operation(target, word, items, places)
    if word == REMOVE:
        return [] if places else [Insert((*target.path, word), len(items), given.meaning, given.source)]
    if len(places) == len(items):
        return [Set(target.path, {REMOVE: [given.meaning]})]
    composed = _composed(target, word, items)
    removed = _find_items(composed, given.meaning)
    return _set_list(target, [item for place, item in enumerate(composed) if place not in removed])


def _delete_from_operation(
    target: EditedList, word: str, items: list[Meaning], places: list[int]
) -> list[Change]:
    """Return the changes that delete items; without items, the operation is deleted, too."""
    if len(places) == len(items):
        return [Delete(target.path)]
    return [Delete((*target.path, word, place)) for place in reversed(places)]


def _operation(target: EditedList, now: dict[str, Meaning]) -> tuple[str, list[Meaning]]:
    """Return the operation on the set's list, and its items. Raise GitcfgError if it has no list."""
    word, items = next(iter(now.items()), ("", []))
    if not isinstance(items, list):
        hint = "Use `--field KEY=LIST`."
        raise GitcfgError(f"{target.what[:1].upper()}{target.what[1:]} is not a list.", hint)
    return word, items


def _composed(target: EditedList, word: str, items: list[Meaning]) -> list[Meaning]:
    """Return all items of a node, its set's and its own, composed as `compile.nodes` does."""
    below = list(target.below or [])
    if word == REMOVE:
        gone = {name_of(item) for item in items}
        return [item for item in below if name_of(item) not in gone]
    return [*below, *items] if word == APPEND else [*items, *below]


def _placed(items: list[Meaning], given: Given, at: int | None) -> list[Meaning]:
    """Return a list with an item at a position; an item that is in the list moves to that position."""
    place = _find_item(items, given.meaning)
    if place is not None and at is None:
        return items
    rest = items if place is None else [*items[:place], *items[place + 1 :]]
    at = len(rest) if at is None else at
    return [*rest[:at], given.meaning, *rest[at:]]


def _set_list(target: EditedList, items: list[Meaning]) -> list[Change]:
    """Return the changes that set a list; they compose with the set's list where one operation suffices."""
    below = list(target.below or [])
    size = len(below)
    if items == below:
        return [Delete(target.path)] if target.now is not None else []
    removed: list[Meaning] = [item for item in below if item not in items]
    operations = ((APPEND, items[size:]), (PREPEND, items[: len(items) - size]), (REMOVE, removed))
    for word, own in operations:
        if own and items == _composed(target, word, own):
            return [Set(target.path, {word: own}, None, target.order)]
    return [Set(target.path, items, None, target.order)]


# Items added to lists of definitions and removed: includes, features, memberships.


def add_item(target: EditedList, given: Given, at: int | None) -> list[Change]:
    """Return the changes that add an item at a position; an existing item moves to a given position."""
    if isinstance(target.now, dict):
        return _add_to_operation(target, target.now, given, at)
    place = _find_item(target.items, given.meaning)
    if place is not None:
        to = place if at is None else min(at, len(target.items) - 1)
        return [Move(target.path, place, to)]
    if target.now is None and target.below is not None:
        return _add_first(target, given, at)
    end = len(target.items) if at is None else at
    return [Insert(target.path, end, given.meaning, given.source, target.order)]


def remove_item(target: EditedList, given: Given) -> list[Change]:
    """Return the changes that remove an item; if only the name of a feature is given, all its instances."""
    if isinstance(target.now, dict):
        return _remove_from_operation(target, target.now, given)
    places = _find_items(target.items, given.meaning)
    if not places and target.now is None and target.is_inherited(given):
        return [Set(target.path, {REMOVE: [given.meaning]}, None, target.order)]
    if not places:
        raise _missing(target, target.items, given)
    if len(places) == len(target.items) and target.below is None:
        return [Delete(target.path)]
    return [Delete((*target.path, place)) for place in reversed(places)]
