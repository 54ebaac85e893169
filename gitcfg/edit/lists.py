"""Items put into lists of definitions and taken out: includes, features, memberships."""

from collections.abc import Iterable

from gitcfg.edit import composed
from gitcfg.edit.changes import Change, Delete, Insert, Move
from gitcfg.edit.orders import Given
from gitcfg.edit.target import Target, missing, place_in, places_in


def added(target: Target, given: Given, at: int | None) -> Iterable[Change]:
    """An item at a position; one that is there already goes to that position, if one was said."""
    if isinstance(target.now, dict):
        return composed.added(target, target.now, given, at)
    place = place_in(target.items, given.meaning)
    if place is not None:
        to = place if at is None else min(at, len(target.items) - 1)
        return [Move(target.path, place, to)]
    if target.now is None and target.below is not None:
        return composed.begun(target, given, at)
    end = len(target.items) if at is None else at
    return [Insert(target.path, end, given.meaning, given.source, target.order)]


def removed(target: Target, given: Given) -> Iterable[Change]:
    """An item gone: all instances of a feature, where only its name is said."""
    if isinstance(target.now, dict):
        return composed.removed(target, target.now, given)
    places = list(places_in(target.items, given.meaning))
    if not places and target.now is None and target.inherits(given):
        return composed.without(target, given)
    if not places:
        raise missing(target, target.items, given)
    if len(places) == len(target.items) and target.below is None:
        return [Delete(target.path)]
    return [Delete((*target.path, place)) for place in reversed(places)]
