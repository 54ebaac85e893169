"""The features of a fleet: which include which, so that every tool puts them in the same order.

Two features bind the same parameter only where one is a group's main feature and includes the other. A
node has one group of each kind, and a group one main feature of its kind, so there is one way to what is
overridden: it does not matter whether a tool applies a feature once or wherever it stands.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random

import msgspec

from bench.fleet.model import Feature, Parameter
from bench.fleet.options import Options
from bench.fleet.values import value


class Pool(msgspec.Struct, frozen=True):
    """Features that include only each other; the top ones are those that groups install."""

    top: tuple[str, ...]
    include: Mapping[str, tuple[str, ...]]

    def closure(self, name: str) -> dict[str, None]:
        """A feature and all that it includes."""
        found = {name: None}
        ahead = [name]
        for one in ahead:
            new = [other for other in self.include[one] if other not in found]
            found.update(dict.fromkeys(new))
            ahead.extend(new)
        return found


def pools(options: Options) -> tuple[Pool, ...]:
    """One pool for each kind of groups, and last the one that all share."""
    rng = Random(f"{options.seed}/features")
    names = [f"feature{number:03}" for number in range(options.features)]
    own = len(names) - round(options.shared * len(names))
    kinds = max(options.memberships, 1)
    bounds = [own * kind // kinds for kind in range(kinds + 1)]
    mains = max(options.groups // kinds // 2, 2)
    private = [_pool(options, rng, names[a:b], mains) for a, b in pairwise(bounds)]
    return (*private, _pool(options, rng, names[own:], len(names) // options.include_depth))


def _pool(options: Options, rng: Random, names: Sequence[str], mains: int) -> Pool:
    """Levels, the highest with the main features; every feature above the lowest includes some below it."""
    depth = min(options.include_depth, len(names))
    low = len(names) - min(mains, len(names) // depth) if depth > 1 else 0
    bounds = [*(low * level // (depth - 1) for level in range(depth - 1)), low] if depth > 1 else [0]
    include: dict[str, tuple[str, ...]] = {}
    below: Sequence[str] = ()
    for first, last in zip(bounds, [*bounds[1:], len(names)], strict=True):
        include.update(_including(options, rng, names[first:last], below))
        below = names[first:last]
    return Pool(tuple(below), include)


def _including(
    options: Options, rng: Random, names: Sequence[str], below: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each takes so many of the level below, in turn, so that all of them are in use."""
    order = rng.sample(below, len(below))
    size = min(options.include_fanout, len(order))
    for number, name in enumerate(names):
        yield name, tuple(order[(number * size + n) % len(order)] for n in range(size))


def overrides(drawn: Sequence[Pool], owned: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """For a main feature, parameters of what it includes that it binds anew; another main leaves them."""
    found: dict[str, list[str]] = {}
    taken: set[str] = set()
    for pool in drawn[:-1]:
        for name in pool.top:
            others = [other for main in pool.top if main != name for other in pool.closure(main)]
            free = [one for one in pool.closure(name) if one != name and one in others and one not in taken]
            found[name] = [owned[one][0] for one in free[:2]]
            taken.update(free[:2])
    return found


def features(
    options: Options,
    drawn: Sequence[Pool],
    owned: Mapping[str, Sequence[str]],
    parameters: Mapping[str, Parameter],
) -> Iterator[Feature]:
    """The features with their values, without depends and conflicts."""
    anew = overrides(drawn, owned)
    for pool in drawn:
        for name, include in pool.include.items():
            rng = Random(f"{options.seed}/feature/{name}")
            bound = [*owned[name], *anew.get(name, ())]
            yield Feature(name, include, {one: value(rng, parameters[one].type) for one in bound})
