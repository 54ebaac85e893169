"""The spots of one stratum: where rules that count may place features, and what stands there already."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitcfg.cel import Key
from gitcfg.compile.ruled.asking import Seen, slot
from gitcfg.compile.ruled.view import Ruled
from gitcfg.model.rules import Rule
from gitcfg.solve.fleet.ground import Ground
from gitcfg.solve.placing import Spot

Ways = tuple[tuple[Spot, ...], ...]
"""What counts: the spots of the way that has most."""


class Place(msgspec.Struct, frozen=True):
    """A slot as a rule sees it, and what is installed there of the feature that it counts, if it is."""

    seen: Seen
    had: Spot | None


class Spots:
    """`open`: what may be placed, by node, with the rules that may place it; `places`: of rules, by key."""

    def __init__(self, ground: Ground, ruled: Ruled) -> None:
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

    def _place(self, rule: str, feature: str, seen: Seen, choose: bool) -> Place:
        for unit in self.ground.units(seen, feature)[:1]:
            had = (unit.feature, slot(seen.name, unit))
            self.fixed[had] = seen.name
            return Place(seen, had)
        if choose:
            spot = (feature, seen.slot)
            self.open.setdefault(spot, []).append(rule)
            self.on[seen.name][spot] = None
        return Place(seen, None)

    def counting(self, feature: str, place: Place) -> Iterator[Spot]:
        """The spots by which a slot comes to a feature."""
        if place.had is not None:
            yield place.had
            return
        for spot in self.on.get(place.seen.name, ()):
            if spot[1] == place.seen.slot and self.ground.brings(spot[0], feature, place.seen.name):
                yield spot

    def limited(self, feature: str, seen: Seen) -> Iterator[Ways]:
        """What a limit counts on a node, or as an instance: what is there, and what may be.

        What includes another that is there counts in its place.
        """
        near = [
            spot
            for spot in self.on.get(seen.name, ())
            if (seen.unit is None or spot[1] == seen.slot) and self.ground.brings(spot[0], feature, seen.name)
        ]
        within: set[Spot] = set()
        for unit in self.ground.units(seen, feature):
            had = (unit.feature, slot(seen.name, unit))
            self.fixed[had] = seen.name
            around = [spot for spot in near if spot not in within and self._around(spot, had, seen.name)]
            within.update(around)
            yield ((had,), tuple(around)) if len(around) > 1 else ((had,),)
        yield from (((spot,),) for spot in near if spot not in within)

    def _around(self, spot: Spot, had: Spot, node: str) -> bool:
        """Does what may be placed include what is there?"""
        return (
            spot[1] == had[1]
            and self.ground.brings(spot[0], had[0], node)
            and not self.ground.brings(had[0], spot[0], node)
        )
