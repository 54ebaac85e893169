"""Depends and conflicts that hold on every node: of features, and of the parameters that they own."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TypeAlias

import msgspec

from bench.fleet.features import Pool
from bench.fleet.model import DEFAULT, Feature, Group
from bench.fleet.options import Options

Pairs: TypeAlias = Sequence[tuple[str, str]]


def depends(options: Options, pools: Sequence[Pool], groups: Mapping[str, Group]) -> Pairs:
    """Pairs of features: any that not every node has, and one that every node has."""
    everywhere = list(
        dict.fromkeys(name for one in groups[DEFAULT].features for name in pools[-1].closure(one))
    )
    others = [name for pool in pools for name in pool.include if name not in everywhere]
    rng = Random(f"{options.seed}/depends")
    chosen = rng.sample(others, min(options.depends, len(others)))
    return [(name, rng.choice(everywhere)) for name in chosen] if everywhere else []


def conflicts(options: Options, pools: Sequence[Pool]) -> Pairs:
    """Pairs of main features of one kind: no node has two of them."""
    every = [(pool.top[n], pool.top[n + 1]) for pool in pools[:-1] for n in range(len(pool.top) - 1)]
    return Random(f"{options.seed}/conflicts").sample(every, min(options.conflicts, len(every)))


def related(features: Iterable[Feature], needed: Pairs, rivals: Pairs) -> dict[str, Feature]:
    """The features with these pairs."""
    found = {one.name: one for one in features}
    for name, other in needed:
        found[name] = msgspec.structs.replace(found[name], depends=(*found[name].depends, other))
    for name, other in rivals:
        found[name] = msgspec.structs.replace(found[name], conflicts=(*found[name].conflicts, other))
    return found


def of_parameters(pairs: Pairs, owned: Mapping[str, Sequence[str]]) -> Pairs:
    """For pairs of features, pairs of the last parameters that they own."""
    return [(owned[a][-1], owned[b][-1]) for a, b in pairs if owned[a] and owned[b]]
