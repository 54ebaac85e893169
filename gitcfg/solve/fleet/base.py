"""What deciding knows of a fleet: spots, ground, and names in natural order (node2 before node10)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from gitcfg.cel import Key
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.nodes import RuleInstall
from gitcfg.compile.rules.evaluate import Candidate, Unit, slot_name
from gitcfg.compile.rules.placement import Shape, Shapes
from gitcfg.compile.rules.rulebook import Rulebook
from gitcfg.compile.rules.slots import RuleView
from gitcfg.model import Origin
from gitcfg.model.rules import Rule, RuleKind
from gitcfg.solve.problem import Spot

_DIGITS = re.compile("([0-9]+)")


def natural(name: str) -> tuple[list[str | int], str]:
    """Return what names are sorted by."""
    parts = _DIGITS.split(name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name


# What nodes have whatever is chosen: by hand, and by rules that were asked before or leave no choice.


class Ground:
    """A fleet for which nothing is decided yet from a stratum on (`level`, from 0)."""

    def __init__(self, fleet: Fleet, book: Rulebook, level: int) -> None:
        self.fleet = fleet
        self.reaches = book.inclusion.reaches
        self._shapes = Shapes(fleet.layers)
        self._book = book
        self._level = level
        self._whole: dict[tuple[str, frozenset[str]], frozenset[str]] = {}
        self._had: dict[str, tuple[Shape, tuple[RuleInstall, ...]]] = {}

    def _of(self, node: str) -> tuple[Shape, tuple[RuleInstall, ...]]:
        if node not in self._had:
            kind, order = self.fleet.node_classes[node], self._book.order
            shape = self._shapes.of(self.fleet.roster.definition(node), kind.overrides)
            there = tuple([each for each in kind.effects.installs if order[each.rule] <= self._level])
            self._had[node] = shape, there
        return self._had[node]

    def features(self, node: str) -> frozenset[str]:
        """Return the features that a node has already."""
        return self._shapes.features(*self._of(node))

    def without(self, node: str) -> frozenset[str]:
        """Return the features that a node does without."""
        return self._of(node)[0].without

    def units(self, seen: Candidate, feature: str) -> Sequence[Unit]:
        """Return the installations of a feature on a node, or under the name of an instance."""
        if feature not in self.features(seen.name):
            return ()
        found = self._shapes.units(*self._of(seen.name), feature)
        return [unit for unit in found if seen.unit is None or unit.name == seen.unit.name]

    def origin(self, node: str, feature: str) -> Origin:
        """Return where it is written that a node has a feature."""
        uses = self._shapes.uses(*self._of(node))
        having = (use.origin for use in uses if self.brings(use.feature, feature, node))
        return next(having, self.fleet.model.settings.origin)

    def brings(self, feature: str, other: str, node: str) -> bool:
        """Return whether a feature is another one, or includes it on a node."""
        near = feature == other or self.reaches.leads(feature, other)
        return near and other in self.whole(feature, self.without(node))

    def whole(self, feature: str, without: frozenset[str]) -> frozenset[str]:
        """Return a feature and all that it includes, where some are left out with what only they include."""
        key = (feature, without)
        if key not in self._whole:
            found = set[str]()
            waiting = [feature]
            while waiting:
                name = waiting.pop()
                if name not in found and name not in without:
                    found.add(name)
                    waiting += self._book.inclusion.edges.get(name, ())
            self._whole[key] = frozenset(found)
        return self._whole[key]

    @cached_property
    def later(self) -> frozenset[str]:
        """The features that rules may bring which are asked only after this."""
        return self.reaches.closed(self._later())

    def _later(self) -> Iterator[str]:
        for rule in self._book.of_kind(RuleKind.INSTALL):
            known = rule.feature is not None and rule.feature.name in self.fleet.model.features
            if known and rule.feature and self._book.order.get(rule.name, -1) > self._level:
                yield rule.feature.name


# The spots of one stratum: where rules that count may place features, and what stands there already.

Ways = tuple[tuple[Spot, ...], ...]
"""What counts: the spots of the way that has most."""


class Place(msgspec.Struct, frozen=True):
    """A slot as a rule sees it, and what is installed there of the feature that it counts, if it is."""

    seen: Candidate
    had: Spot | None


class Spots:
    """`open`: what may be placed, by node, with the rules that may place it; `places`: of rules, by key."""

    def __init__(self, ground: Ground, ruled: RuleView) -> None:
        self.ground = ground
        self._ruled = ruled
        self.open: dict[Spot, list[str]] = {}
        self.on: dict[str, dict[Spot, None]] = defaultdict(dict)
        self.fixed: dict[Spot, str] = {}
        self.places: dict[str, Mapping[Key | None, list[Place]]] = {}

    def add(self, rules: Iterable[Rule], *, choose: bool) -> None:
        """Rules that count what they install; `choose`: they may place it."""
        for rule in rules:
            if rule.feature is not None:
                feature, groups = rule.feature.name, self._ruled.groups(rule.name)
                self.places[rule.name] = {
                    key: [self._place(rule.name, feature, seen, choose) for seen in members]
                    for key, members in groups.items()
                }

    def _place(self, rule: str, feature: str, seen: Candidate, choose: bool) -> Place:
        for unit in self.ground.units(seen, feature)[:1]:
            had = (unit.feature, slot_name(seen.name, unit))
            self.fixed[had] = seen.name
            return Place(seen, had)
        if choose:
            spot = (feature, seen.slot)
            self.open.setdefault(spot, []).append(rule)
            self.on[seen.name][spot] = None
        return Place(seen, None)

    def counting(self, feature: str, place: Place) -> Iterator[Spot]:
        """Yield the spots by which a slot comes to a feature."""
        if place.had is not None:
            yield place.had
            return
        for spot in self.on.get(place.seen.name, ()):
            if spot[1] == place.seen.slot and self.ground.brings(spot[0], feature, place.seen.name):
                yield spot

    def limited(self, feature: str, seen: Candidate) -> Iterator[Ways]:
        """Yield what a limit counts on a node, or as an instance: what is there, and what may be.

        What includes another that is there counts in its place.
        """
        near = [
            spot
            for spot in self.on.get(seen.name, ())
            if (seen.unit is None or spot[1] == seen.slot) and self.ground.brings(spot[0], feature, seen.name)
        ]
        within: set[Spot] = set()
        for unit in self.ground.units(seen, feature):
            had = (unit.feature, slot_name(seen.name, unit))
            self.fixed[had] = seen.name
            around = [spot for spot in near if spot not in within and self._around(spot, had, seen.name)]
            within.update(around)
            yield ((had,), tuple(around)) if len(around) > 1 else ((had,),)
        yield from (((spot,),) for spot in near if spot not in within)

    def _around(self, spot: Spot, had: Spot, node: str) -> bool:
        """Return whether what may be placed includes what is there."""
        return (
            spot[1] == had[1]
            and self.ground.brings(spot[0], had[0], node)
            and not self.ground.brings(had[0], spot[0], node)
        )
