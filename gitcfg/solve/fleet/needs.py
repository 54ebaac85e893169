"""Dependencies of what may be placed: on what else may be placed on its node, or on nothing that can be."""

from collections.abc import Iterable, Iterator

from gitcfg.solve.fleet.causes import Causes
from gitcfg.solve.fleet.demands import Demands
from gitcfg.solve.fleet.natural import natural
from gitcfg.solve.fleet.spots import Spots
from gitcfg.solve.placing import Bound, Fixed, Implies, Spot

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
