"""What features demand of the nodes that get them: features that must be there, and that must not."""

from collections.abc import Iterable, Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Origin
from gitcfg.solve.fleet.answers import Cause, Causes
from gitcfg.solve.fleet.base import Ground, Spots, natural
from gitcfg.solve.problem import Bound, Fixed, Implies, Spot

Lacking = tuple[str, Cause]
"""A feature that has to be there, and why."""


class Demands:
    """The demands of features with all that they include, looked at once for nodes that are alike."""

    def __init__(self, fleet: Fleet, ground: Ground) -> None:
        self._features = fleet.model.features
        self._ground = ground
        self._apart: dict[str, dict[str, tuple[Origin, ...]]] = {}
        for name in sorted(self._features):
            for ref in self._features[name].conflicts:
                for one, other in ((name, ref.name), (ref.name, name)):
                    known = self._apart.setdefault(one, {})
                    known[other] = (*known.get(other, ()), ref.origin)
        self._lacking: dict[tuple[str, frozenset[str], frozenset[str]], tuple[Lacking, ...]] = {}
        self._clashing: dict[tuple[str, frozenset[str], frozenset[str]], Cause | None] = {}

    def lacking(self, feature: str, node: str) -> tuple[Lacking, ...]:
        """What a feature depends on that a node does not have."""
        have, without = self._ground.features(node), self._ground.without(node)
        key = (feature, have, without)
        if key not in self._lacking:
            whole = self._ground.whole(feature, without)
            self._lacking[key] = tuple(self._missing(whole, have | whole | self._ground.later))
        return self._lacking[key]

    def _missing(self, whole: Iterable[str], have: frozenset[str]) -> Iterator[Lacking]:
        for name in sorted(whole):
            for ref in self._features[name].depends:
                if ref.name not in have:
                    yield ref.name, Cause(f"{name} depends on {ref.name}", (ref.origin,))

    def clash(self, feature: str, node: str) -> Cause | None:
        """Why a node may not get a feature, for what it has."""
        return self._apart_from(feature, self._ground.features(node), self._ground.without(node))

    def clash_of(self, one: str, other: str, node: str) -> Cause | None:
        """Why a node may not get two features together."""
        without = self._ground.without(node)
        return self._apart_from(one, self._ground.whole(other, without), without)

    def _apart_from(self, feature: str, have: frozenset[str], without: frozenset[str]) -> Cause | None:
        key = (feature, have, without)
        if key not in self._clashing:
            pairs = (
                Cause(f"{min(name, other)} conflicts with {max(name, other)}", origins)
                for name in sorted(self._ground.whole(feature, without))
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

    def look(self) -> None:
        """Go through all that may be placed."""
        for node, spots in self._spots.on.items():
            for spot in spots:
                for feature, cause in self._demands.lacking(spot[0], node):
                    self._need(node, spot, feature, self._causes.key(cause))

    def _need(self, node: str, spot: Spot, feature: str, cause: str) -> None:
        ways = [other for other in self._spots.on[node] if self._spots.ground.brings(other[0], feature, node)]
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

    def stood(self, spots: Iterable[Spot]) -> Iterator[Spot]:
        """Which of them held while these spots stood."""
        stood = set(spots)
        for (feature, node), ways in self._choices.items():
            yield f"{_AWAY if stood.isdisjoint(ways) else _THERE}{feature}", node


def stands_for(thing: str) -> bool:
    """Does it merely stand for others?"""
    return thing.startswith((_THERE, _AWAY))
