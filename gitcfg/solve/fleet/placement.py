"""One stratum of rules as a problem of placement: where features may go, and what they demand there."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, permutations

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
from gitcfg.solve.fleet.answers import Cause, Causes, natural
from gitcfg.solve.problem import Bound, Excludes, Fixed, Implies, PlacementProblem, Spot

# What nodes have whatever is chosen: by hand, and by rules that were asked before or leave no choice.


class Baseline:
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

    def units(self, candidate: Candidate, feature: str) -> Sequence[Unit]:
        """Return the installations of a feature on a node, or under the name of an instance."""
        if feature not in self.features(candidate.name):
            return ()
        found = self._shapes.units(*self._of(candidate.name), feature)
        return [unit for unit in found if candidate.unit is None or unit.name == candidate.unit.name]

    def origin(self, node: str, feature: str) -> Origin:
        """Return where it is written that a node has a feature."""
        uses = self._shapes.uses(*self._of(node))
        having = (use.origin for use in uses if self.includes(use.feature, feature, node))
        return next(having, self.fleet.model.settings.origin)

    def includes(self, feature: str, other: str, node: str) -> bool:
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
        """The features that rules evaluated after this one may install."""
        return self.reaches.closed(
            rule.feature.name
            for rule in self._book.of_kind(RuleKind.INSTALL)
            if rule.feature is not None
            and rule.feature.name in self.fleet.model.features
            and self._book.order.get(rule.name, -1) > self._level
        )


# The spots of one stratum: where rules that count may place features, and what stands there already.

Ways = tuple[tuple[Spot, ...], ...]
"""What counts: the spots of the way that has most."""


class Place(msgspec.Struct, frozen=True):
    """A slot as a rule sees it, and what is installed there of the feature that it counts, if it is."""

    candidate: Candidate
    had: Spot | None


class Spots:
    """`open`: what may be placed, by node, with the rules that may place it; `places`: of rules, by key."""

    def __init__(self, baseline: Baseline, ruled: RuleView) -> None:
        self.baseline = baseline
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
                    key: [self._place(rule.name, feature, candidate, choose) for candidate in members]
                    for key, members in groups.items()
                }

    def _place(self, rule: str, feature: str, candidate: Candidate, choose: bool) -> Place:
        for unit in self.baseline.units(candidate, feature)[:1]:
            had = (unit.feature, slot_name(candidate.name, unit))
            self.fixed[had] = candidate.name
            return Place(candidate, had)
        if choose:
            spot = (feature, candidate.slot)
            self.open.setdefault(spot, []).append(rule)
            self.on[candidate.name][spot] = None
        return Place(candidate, None)

    def counting(self, feature: str, place: Place) -> Iterator[Spot]:
        """Yield the spots by which a slot comes to a feature."""
        if place.had is not None:
            yield place.had
            return
        for spot in self.on.get(place.candidate.name, ()):
            if spot[1] == place.candidate.slot and self.baseline.includes(
                spot[0], feature, place.candidate.name
            ):
                yield spot

    def limited(self, feature: str, candidate: Candidate) -> Iterator[Ways]:
        """Yield what a limit counts on a node, or as an instance: what is there, and what may be.

        What includes another that is there counts in its place.
        """
        near = [
            spot
            for spot in self.on.get(candidate.name, ())
            if (candidate.unit is None or spot[1] == candidate.slot)
            and self.baseline.includes(spot[0], feature, candidate.name)
        ]
        within: set[Spot] = set()
        for unit in self.baseline.units(candidate, feature):
            had = (unit.feature, slot_name(candidate.name, unit))
            self.fixed[had] = candidate.name
            including = [
                spot
                for spot in near
                if spot not in within
                and spot[1] == had[1]
                and self.baseline.includes(spot[0], had[0], candidate.name)
                and not self.baseline.includes(had[0], spot[0], candidate.name)
            ]
            within.update(including)
            yield ((had,), tuple(including)) if len(including) > 1 else ((had,),)
        yield from (((spot,),) for spot in near if spot not in within)


# What features demand of the nodes that get them, with all that they include.

Lacking = tuple[str, Cause]
"""A feature that has to be there, and why."""


class Demands:
    """The demands of features with all that they include, looked at once for nodes that are alike."""

    def __init__(self, fleet: Fleet, baseline: Baseline) -> None:
        self._features = fleet.model.features
        self._baseline = baseline
        self._apart: dict[str, dict[str, tuple[Origin, ...]]] = {}
        for name in sorted(self._features):
            for ref in self._features[name].conflicts:
                for one, other in ((name, ref.name), (ref.name, name)):
                    known = self._apart.setdefault(one, {})
                    known[other] = (*known.get(other, ()), ref.origin)
        self._lacking: dict[tuple[str, frozenset[str], frozenset[str]], tuple[Lacking, ...]] = {}
        self._clashing: dict[tuple[str, frozenset[str], frozenset[str]], Cause | None] = {}

    def lacking(self, feature: str, node: str) -> tuple[Lacking, ...]:
        """Return what a feature depends on that a node does not have."""
        have, without = self._baseline.features(node), self._baseline.without(node)
        key = (feature, have, without)
        if key not in self._lacking:
            whole = self._baseline.whole(feature, without)
            available = have | whole | self._baseline.later
            self._lacking[key] = tuple(
                (ref.name, Cause(f"{name} depends on {ref.name}", (ref.origin,)))
                for name in sorted(whole)
                for ref in self._features[name].depends
                if ref.name not in available
            )
        return self._lacking[key]

    def clash(self, feature: str, node: str) -> Cause | None:
        """Return why a node may not get a feature, for what it has."""
        return self._apart_from(feature, self._baseline.features(node), self._baseline.without(node))

    def clash_of(self, one: str, other: str, node: str) -> Cause | None:
        """Return why a node may not get two features together."""
        without = self._baseline.without(node)
        return self._apart_from(one, self._baseline.whole(other, without), without)

    def _apart_from(self, feature: str, have: frozenset[str], without: frozenset[str]) -> Cause | None:
        key = (feature, have, without)
        if key not in self._clashing:
            pairs = (
                Cause(f"{min(name, other)} conflicts with {max(name, other)}", origins)
                for name in sorted(self._baseline.whole(feature, without))
                for other, origins in self._apart.get(name, {}).items()
                if other in have and other != name
            )
            self._clashing[key] = next(pairs, None)
        return self._clashing[key]


# Dependencies of what may be placed: on what else may be placed on its node, or on nothing that can be.

_THERE, _AWAY = "\x7fthere ", "\x7faway "
"""Before features that several spots of a node may bring: it has one of them, or none. One of the two holds,
so that they add the same to every answer."""


class Needs:
    """Finds them, as parts of a problem of placement. `things` and `nodes`: what it has beyond spots."""

    def __init__(self, spots: Spots, demands: Demands, causes: Causes) -> None:
        self._spots = spots
        self._demands = demands
        self._causes = causes
        self.fixed: list[Fixed] = []
        self.implied: list[Implies] = []
        self.bounds: list[Bound] = []
        self._choices: dict[tuple[str, str], list[Spot]] = {}

    @property
    def things(self) -> list[str]:
        """What stands for features that are there in one way or another."""
        features = sorted({feature for feature, _ in self._choices}, key=natural)
        return [f"{mark}{feature}" for feature in features for mark in (_THERE, _AWAY)]

    @property
    def nodes(self) -> set[str]:
        """Where they may be."""
        return {node for _, node in self._choices}

    def collect(self) -> None:
        """Go through all that may be placed."""
        for node, spots in self._spots.on.items():
            for spot in spots:
                for feature, cause in self._demands.lacking(spot[0], node):
                    self._need(node, spot, feature, self._causes.key(cause))

    def _need(self, node: str, spot: Spot, feature: str, cause: str) -> None:
        ways = [
            other for other in self._spots.on[node] if self._spots.baseline.includes(other[0], feature, node)
        ]
        if not ways:
            self.fixed.append(Fixed(cause, spot, placed=False))
        elif len(ways) == 1:
            self.implied.append(Implies(cause, spot, ways[0]))
        else:
            there, away = (f"{_THERE}{feature}", node), (f"{_AWAY}{feature}", node)
            self.implied.append(Implies(cause, spot, there))
            if (feature, node) not in self._choices:
                self._choices[feature, node] = ways
                self.bounds += [Bound(cause, 1, 1, (there, away)), Bound(cause, 1, None, (away, *ways))]

    def previous(self, spots: Iterable[Spot]) -> Iterator[Spot]:
        """Yield which of them held while these spots stood."""
        previous = set(spots)
        for (feature, node), ways in self._choices.items():
            yield f"{_AWAY if previous.isdisjoint(ways) else _THERE}{feature}", node


def is_placeholder(thing: str) -> bool:
    """Return whether it merely stands for others."""
    return thing.startswith((_THERE, _AWAY))


# The problem: bounds that rules set, what is there already, and what must not stand together.

_MOST_WAYS = 16
"""Beyond this both what is there and what includes it counts: the ways double each time."""


class PlacementProblemBuilder:
    """Puts a problem together from what was found of it."""

    def __init__(self, spots: Spots, ruled: RuleView, causes: Causes) -> None:
        self._spots = spots
        self._ruled = ruled
        self._causes = causes
        self._demands = Demands(ruled.fleet, spots.baseline)

    def problem(
        self, rules: Iterable[Rule], earlier: Iterable[Rule], previous: Iterable[Spot]
    ) -> PlacementProblem:
        """Return what is to be placed for rules that count, under all that limits it.

        What was counted `earlier` may become too much by it.
        """
        bounds = [*self._bounds(rules), *self._touched(self._bounds(earlier)), *self._touched(self._limits())]
        needs = Needs(self._spots, self._demands, self._causes)
        needs.collect()
        here = (*self._spots.open, *self._spots.fixed)
        before = [spot for spot in previous if spot in self._spots.open]
        return PlacementProblem(
            [*sorted({thing for thing, _ in here}, key=natural), *needs.things],
            sorted({slot for _, slot in here} | needs.nodes, key=natural),
            [*bounds, *needs.bounds],
            [*self._there(), *self._away(), *needs.fixed],
            needs.implied,
            [*self._apart(), *self._nested()],
            [*before, *needs.previous(before)],
        )

    def broken(self, rules: Iterable[Rule]) -> PlacementProblem | None:
        """Return what does not hold though nothing is left to be placed; None: all does."""
        bounds = [bound for bound in (*self._bounds(rules), *self._limits()) if not _holds(bound)]
        if not bounds:
            return None
        members = {spot for bound in bounds for spot in bound.members}
        there = [fixed for fixed in self._there() if fixed.spot in members]
        things, slots = {thing for thing, _ in members}, {slot for _, slot in members}
        return PlacementProblem(sorted(things, key=natural), sorted(slots, key=natural), bounds, there)

    def _touched(self, bounds: Iterable[Bound]) -> Iterator[Bound]:
        """Yield those about which something can be done."""
        return (bound for bound in bounds if any(spot in self._spots.open for spot in bound.members))

    def _bounds(self, rules: Iterable[Rule]) -> Iterator[Bound]:
        for rule in rules:
            if rule.feature is not None and rule.count is not None:
                for places in self._spots.places[rule.name].values():
                    found = [spot for one in places for spot in self._spots.counting(rule.feature.name, one)]
                    cause = self._causes.count(rule, rule.feature, rule.count)
                    yield Bound(cause, rule.count.least, rule.count.most, found)

    def _limits(self) -> Iterator[Bound]:
        for rule in self._ruled.book.of_kind(RuleKind.LIMIT):
            wrong = rule.name in self._ruled.book.led
            if rule.feature is not None and rule.count is not None and not wrong:
                for group in self._ruled.groups(rule.name).values():
                    ways = [
                        way
                        for candidate in group
                        for way in self._spots.limited(rule.feature.name, candidate)
                    ]
                    cause = self._causes.count(rule, rule.feature, rule.count)
                    for number, found in enumerate(_ways(ways)):
                        yield Bound(cause, 0 if number else rule.count.least, rule.count.most, found)

    def _there(self) -> Iterator[Fixed]:
        """Yield what nodes have whatever is chosen."""
        rules = self._ruled.book.of_kind(RuleKind.INSTALL)
        plain = {rule.feature.origin: rule.name for rule in rules if rule.feature and rule.count is None}
        for spot, node in self._spots.fixed.items():
            origin = self._spots.baseline.origin(node, spot[0])
            cause = Cause(f"{spot[0]} is installed", (origin,), plain.get(origin))
            yield Fixed(self._causes.key(cause), spot, placed=True)

    def _away(self) -> Iterator[Fixed]:
        """Yield what nodes may not get: they do without it, or it is in conflict with what they have."""
        for node, spots in self._spots.on.items():
            for spot in spots:
                cause: Cause | None
                if spot[0] in self._spots.baseline.without(node):
                    without = self._ruled.fleet.node_classes[node].without
                    origins = tuple(ref.origin for ref in without if ref.name == spot[0])
                    cause = Cause(f"`without` removes {spot[0]} from {node}", origins)
                else:
                    cause = self._demands.clash(spot[0], node)
                if cause is not None:
                    yield Fixed(self._causes.key(cause), spot, placed=False)

    def _apart(self) -> Iterator[Excludes]:
        for node, spots in self._spots.on.items():
            for one, other in combinations(spots, 2):
                cause = self._demands.clash_of(one[0], other[0], node)
                if cause is not None:
                    yield Excludes(self._causes.key(cause), one, other)

    def _nested(self) -> Iterator[Excludes]:
        """Yield what includes another is not placed beside it: the other is there by that."""
        features, baseline = self._ruled.fleet.model.features, self._spots.baseline
        for node, spots in self._spots.on.items():
            for one, other in permutations(spots, 2):
                if one[1] == other[1] and one[0] != other[0] and baseline.includes(one[0], other[0], node):
                    cause = Cause(f"{one[0]} includes {other[0]}", (features[one[0]].origin,))
                    yield Excludes(self._causes.key(cause), one, other)


def _ways(counted: Iterable[Ways]) -> list[list[Spot]]:
    """Return all ways in which something is counted, none of which may be too many; first what is there."""
    rows: list[list[Spot]] = [[]]
    for ways in counted:
        if len(ways) == 1 or len(rows) * len(ways) > _MOST_WAYS:
            for row in rows:
                row.extend(chain(*ways))
        else:
            rows = [[*row, *way] for way in ways for row in rows]
    return rows


def _holds(bound: Bound) -> bool:
    """Return where all members are there."""
    count = len(set(bound.members))
    return bound.least <= count and (bound.most is None or count <= bound.most)
