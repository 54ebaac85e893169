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

# What nodes have for any decision: by hand, and by rules that were decided before or leave no choice.


class Baseline:
    """A fleet without decisions from a stratum on (`level`, from 0)."""

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
        """Return the features that are removed from a node."""
        return self._of(node)[0].without

    def units(self, candidate: Candidate, feature: str) -> Sequence[Unit]:
        """Return the installations of a feature on a node, or under the name of an instance."""
        if feature not in self.features(candidate.name):
            return ()
        found = self._shapes.units(*self._of(candidate.name), feature)
        return [unit for unit in found if candidate.unit is None or unit.name == candidate.unit.name]

    def origin(self, node: str, feature: str) -> Origin:
        """Return the place in a file by which a node has a feature."""
        uses = self._shapes.uses(*self._of(node))
        having = (use.origin for use in uses if self.includes(use.feature, feature, node))
        return next(having, self.fleet.model.settings.origin)

    def includes(self, feature: str, other: str, node: str) -> bool:
        """Return whether a feature is another one, or includes it on a node."""
        near = feature == other or self.reaches.leads(feature, other)
        return near and other in self.whole(feature, self.without(node))

    def whole(self, feature: str, without: frozenset[str]) -> frozenset[str]:
        """Return a feature and all that it includes, except `without` and what only these include."""
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
        """The features that rules decided after this stratum may install."""
        return self.reaches.closed(
            rule.feature.name
            for rule in self._book.of_kind(RuleKind.INSTALL)
            if rule.feature is not None
            and rule.feature.name in self.fleet.model.features
            and self._book.order.get(rule.name, -1) > self._level
        )


# The spots of one stratum: where rules with a count may place features, and where these are already.

Ways = tuple[tuple[Spot, ...], ...]
"""Alternative sets of spots: the largest one counts."""


class Place(msgspec.Struct, frozen=True):
    """A slot as a rule sees it, and the installation there of the feature that the rule counts, if any."""

    candidate: Candidate
    had: Spot | None


class Spots:
    """`open`: possible spots, with the rules that may use them, also by node; `places`: of rules, by key."""

    def __init__(self, baseline: Baseline, ruled: RuleView) -> None:
        self.baseline = baseline
        self._ruled = ruled
        self.open: dict[Spot, list[str]] = {}
        self.on: dict[str, dict[Spot, None]] = defaultdict(dict)
        self.fixed: dict[Spot, str] = {}
        self.places: dict[str, Mapping[Key | None, list[Place]]] = {}

    def add(self, rules: Iterable[Rule], *, choose: bool) -> None:
        """Add rules that count what they install; `choose`: they may place it."""
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
        """Yield the spots by which a slot gets a feature."""
        if place.had is not None:
            yield place.had
            return
        for spot in self.on.get(place.candidate.name, ()):
            if spot[1] == place.candidate.slot and self.baseline.includes(
                spot[0], feature, place.candidate.name
            ):
                yield spot

    def limited(self, feature: str, candidate: Candidate) -> Iterator[Ways]:
        """Yield what a limit counts on a node, or as an instance: what is there, and what is possible.

        A feature that includes an existing one counts in its place.
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


# What features demand of the nodes that get them, including the features that they include.

Lacking = tuple[str, Cause]
"""A missing feature, and why it is needed."""


class Demands:
    """The demands of features and of all that they include, computed once for similar nodes."""

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
        """Return why a node may not get a feature because of what it has."""
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


# Dependencies of possible spots: on other spots of the same node, or on something impossible.

_THERE, _AWAY = "\x7fthere ", "\x7faway "
"""Prefixes of placeholders for features that a node may get by several spots: it has one of them, or none.
Exactly one of the two is placed, so that they add the same number to every solution.
"""


class Needs:
    """Finds dependencies as parts of a problem of placement. `things` and `nodes`: those of placeholders."""

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
        """The placeholders for features that a node may get by several spots."""
        features = sorted({feature for feature, _ in self._choices}, key=natural)
        return [f"{mark}{feature}" for feature in features for mark in (_THERE, _AWAY)]

    @property
    def nodes(self) -> set[str]:
        """The nodes of placeholders."""
        return {node for _, node in self._choices}

    def collect(self) -> None:
        """Examine all possible spots."""
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
        """Yield the placeholders that were true when these spots were placed."""
        previous = set(spots)
        for (feature, node), ways in self._choices.items():
            yield f"{_AWAY if previous.isdisjoint(ways) else _THERE}{feature}", node


def is_placeholder(thing: str) -> bool:
    """Return whether a thing is only a placeholder."""
    return thing.startswith((_THERE, _AWAY))


# The problem: bounds of rules, what is there already, and what must not be placed together.

_MOST_WAYS = 16
"""The maximum number of alternatives, which double each time. Beyond it both sides of one count."""


class PlacementProblemBuilder:
    """Builds a problem of placement."""

    def __init__(self, spots: Spots, ruled: RuleView, causes: Causes) -> None:
        self._spots = spots
        self._ruled = ruled
        self._causes = causes
        self._demands = Demands(ruled.fleet, spots.baseline)

    def problem(
        self, rules: Iterable[Rule], earlier: Iterable[Rule], previous: Iterable[Spot]
    ) -> PlacementProblem:
        """Return what is to be placed for rules with a count, under all limits on it.

        Bounds of rules in `earlier` strata can be exceeded by new placements, so they are included.
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
        """Return the bounds that do not hold although nothing is left to place; None: all hold."""
        bounds = [bound for bound in (*self._bounds(rules), *self._limits()) if not _holds(bound)]
        if not bounds:
            return None
        members = {spot for bound in bounds for spot in bound.members}
        there = [fixed for fixed in self._there() if fixed.spot in members]
        things, slots = {thing for thing, _ in members}, {slot for _, slot in members}
        return PlacementProblem(sorted(things, key=natural), sorted(slots, key=natural), bounds, there)

    def _touched(self, bounds: Iterable[Bound]) -> Iterator[Bound]:
        """Yield the bounds that can be affected."""
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
        """Yield what nodes have for any decision."""
        rules = self._ruled.book.of_kind(RuleKind.INSTALL)
        plain = {rule.feature.origin: rule.name for rule in rules if rule.feature and rule.count is None}
        for spot, node in self._spots.fixed.items():
            origin = self._spots.baseline.origin(node, spot[0])
            cause = Cause(f"{spot[0]} is installed", (origin,), plain.get(origin))
            yield Fixed(self._causes.key(cause), spot, placed=True)

    def _away(self) -> Iterator[Fixed]:
        """Yield what nodes may not get: it is removed from them, or it conflicts with what they have."""
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
        """Yield that no feature is placed beside another that it includes: it provides that one."""
        features, baseline = self._ruled.fleet.model.features, self._spots.baseline
        for node, spots in self._spots.on.items():
            for one, other in permutations(spots, 2):
                if one[1] == other[1] and one[0] != other[0] and baseline.includes(one[0], other[0], node):
                    cause = Cause(f"{one[0]} includes {other[0]}", (features[one[0]].origin,))
                    yield Excludes(self._causes.key(cause), one, other)


def _ways(counted: Iterable[Ways]) -> list[list[Spot]]:
    """Return all combinations of alternatives, none of which may exceed a bound; the present one first."""
    rows: list[list[Spot]] = [[]]
    for ways in counted:
        if len(ways) == 1 or len(rows) * len(ways) > _MOST_WAYS:
            for row in rows:
                row.extend(chain(*ways))
        else:
            rows = [[*row, *way] for way in ways for row in rows]
    return rows


def _holds(bound: Bound) -> bool:
    """Return whether a bound holds if all its members are placed."""
    count = len(set(bound.members))
    return bound.least <= count and (bound.most is None or count <= bound.most)
