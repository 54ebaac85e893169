"""The features of a random repository: which include and depend on which, and which never meet."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gitcfg.generate.chance import random_part, sample, sample_pairs
from gitcfg.generate.options import Options


class PlannedFeature(msgspec.Struct, frozen=True):
    """A feature to be written. `conflicts` are said by one of the two."""

    name: str
    include: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class Features(msgspec.Struct, frozen=True):
    """All features by name: ordinary ones, pairs that never meet on a node, and those with instances.

    `top` are the ordinary ones of the highest level, `spare` those that a node can do without.
    """

    ordinary: Mapping[str, PlannedFeature]
    rivals: tuple[tuple[PlannedFeature, PlannedFeature], ...]
    instanced: tuple[str, ...]
    top: tuple[str, ...]
    spare: frozenset[str]

    def reached(self, names: Iterable[str]) -> dict[str, None]:
        """The ordinary features among these, and all that they include."""
        found = {name: None for name in names if name in self.ordinary}
        ahead = list(found)
        for name in ahead:
            new = [other for other in self.ordinary[name].include if other not in found]
            found.update(dict.fromkeys(new))
            ahead.extend(new)
        return found

    def closed(self, names: Iterable[str]) -> list[str]:
        """The names, and after them features that satisfy what they and their includes depend on."""
        chosen = list(dict.fromkeys(names))
        while missing := self._missing(chosen):
            chosen.append(missing[0])
        return chosen

    def _missing(self, names: Sequence[str]) -> list[str]:
        found = self.reached(names)
        return [other for name in found for other in self.ordinary[name].depends if other not in found]


def plan_features(options: Options) -> Features:
    """Decide on every feature's name and relations. A feature reaches only those of lower number."""
    names = [f"feature{number:03}" for number in range(options.features)]
    instanced = names[len(names) - round(options.instances * options.features) :]
    rest = names[: len(names) - len(instanced)]
    rivals = rest[len(rest) - 2 * options.conflicts :]
    ordinary = _ordinary(options, rest[: len(rest) - len(rivals)])
    reached_by_others = {other for one in ordinary.values() for other in one.depends}
    spare = {one.name for one in ordinary.values() if not one.include} - reached_by_others
    depth = min(options.include_depth, len(ordinary)) or 1
    return Features(
        ordinary,
        tuple(
            (PlannedFeature(a, conflicts=(b,)), PlannedFeature(b))
            for a, b in zip(rivals[::2], rivals[1::2], strict=True)
        ),
        tuple(instanced),
        tuple(ordinary)[len(ordinary) * (depth - 1) // depth :],
        frozenset(spare),
    )


def _ordinary(options: Options, names: list[str]) -> dict[str, PlannedFeature]:
    rng = random_part(options, "features")
    edges = list(sample_pairs(rng, len(names), options.depends))
    depends = {high: tuple(names[low] for other, low in edges if other == high) for high, _ in edges}
    depth = min(options.include_depth, len(names)) or 1
    bounds = [len(names) * level // depth for level in range(depth + 1)]
    planned = {}
    for level in range(depth):
        below = tuple(names[bounds[level - 1] : bounds[level]]) if level else ()
        for number in range(bounds[level], bounds[level + 1]):
            include = tuple(sample(rng, below, options.include_fanout))
            planned[names[number]] = PlannedFeature(names[number], include, depends.get(number, ()))
    return planned
