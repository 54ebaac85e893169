"""Nodes and instances that look alike to an expression: it is asked of one of them for all."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.cel import fields_asked, members_asked
from gitcfg.cel.expression import Expression

if TYPE_CHECKING:
    from gitcfg.compile.ruled.asking import Seen

Mark = Callable[["Seen"], Hashable]


class Alike(msgspec.Struct, frozen=True):
    """The first of each sort, and for each node or instance which of these it looks like."""

    firsts: Sequence["Seen"]
    places: Sequence[int]


def alike(expression: Expression, nodes: Sequence["Seen"]) -> Alike:
    """Those that give an expression the same to look at, in the order given."""
    if any(name.endswith(".name") for name in expression.names):  # each has its own
        return Alike(nodes, range(len(nodes)))
    marks = [_marking(expression, name) for name in sorted(expression.names)]
    known: dict[Hashable, int] = {}
    firsts: list[Seen] = []
    places: list[int] = []
    for seen in nodes:
        place = known.setdefault(tuple([mark(seen) for mark in marks]), len(firsts))
        if place == len(firsts):
            firsts.append(seen)
        places.append(place)
    return Alike(firsts, places)


def _marking(expression: Expression, name: str) -> Mark:
    """What tells apart those that give a variable of an expression another value to look at."""
    part = name.partition(".")[2]
    if part == "features":
        return _features(members_asked(expression, name))
    if part in _MAPS:
        return _within(part, fields_asked(expression, name))
    return _WHOLE[part]


def _features(asked: frozenset[str] | None) -> Mark:
    if asked is None:
        return lambda seen: seen.features
    return lambda seen: seen.features & asked


def _within(part: str, asked: frozenset[str] | None) -> Mark:
    """Values as they are written: 1, 1.0 and true are equal, and CEL tells them apart."""
    of, value = _MAPS[part]
    if asked is None:
        return lambda seen: tuple([(key, repr(value(said))) for key, said in of(seen).items()])
    keys = sorted(asked)

    def mark(seen: "Seen") -> Hashable:
        found = of(seen)
        return tuple([repr(value(found[key])) if key in found else None for key in keys])

    return mark


_WHOLE: Mapping[str, Mark] = {
    "groups": lambda seen: tuple([ref.name for ref in seen.said.groups]),
    "labels": lambda seen: seen.said.labels,
    "params": lambda seen: seen.params,  # one object for each class
    "as": lambda seen: seen.self_.name,
    "feature": lambda seen: seen.self_.feature,
}
_MAPS: Mapping[str, tuple[Callable[["Seen"], Mapping[str, Any]], Callable[[Any], Any]]] = {
    "facts": (lambda seen: seen.said.facts, attrgetter("value")),
    "with": (lambda seen: seen.self_.attributes, attrgetter("given")),
}
