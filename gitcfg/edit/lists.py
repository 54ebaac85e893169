"""Items put into lists of definitions and taken out: includes, features, memberships."""

from collections.abc import Iterable

from gitcfg.edit import composed
from gitcfg.edit.changes import Change, Delete, Given, Insert, Move
from gitcfg.edit.target import EditedList, find_item, find_items, refuse_missing


def add_item(target: EditedList, given: Given, at: int | None) -> Iterable[Change]:
    """An item at a position; one that is there already goes to that position, if one was said."""
    if isinstance(target.now, dict):
        return composed.add_to_operation(target, target.now, given, at)
    place = find_item(target.items, given.meaning)
    if place is not None:
        to = place if at is None else min(at, len(target.items) - 1)
        return [Move(target.path, place, to)]
    if target.now is None and target.below is not None:
        return composed.begin_operation(target, given, at)
    end = len(target.items) if at is None else at
    return [Insert(target.path, end, given.meaning, given.source, target.order)]


def remove_item(target: EditedList, given: Given) -> Iterable[Change]:
    """An item gone: all instances of a feature, where only its name is said."""
    if isinstance(target.now, dict):
        return composed.remove_from_operation(target, target.now, given)
    places = list(find_items(target.items, given.meaning))
    if not places and target.now is None and target.inherits(given):
        return composed.exclude_item(target, given)
    if not places:
        raise refuse_missing(target, target.items, given)
    if len(places) == len(target.items) and target.below is None:
        return [Delete(target.path)]
    return [Delete((*target.path, place)) for place in reversed(places)]
