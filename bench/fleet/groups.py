"""The groups of a fleet: a main feature of their own kind, shared features, and common parameters."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from bench.fleet.features import Pool
from bench.fleet.model import DEFAULT, Group, Parameter, Scalar
from bench.fleet.options import Options
from bench.fleet.values import value


def groups(
    options: Options,
    pools: Sequence[Pool],
    owned: Mapping[str, Sequence[str]],
    common: Sequence[str],
    parameters: Mapping[str, Parameter],
) -> Iterator[Group]:
    """The default group and the others. Every second user of a main feature binds two of its own anew."""
    shared = pools[-1].top
    rng = Random(f"{options.seed}/{DEFAULT}")
    installed = rng.sample(shared, min(options.default_features, len(shared)))
    yield Group(DEFAULT, len(pools), tuple(installed), _bound(rng, options, common, parameters))
    kinds = len(pools) - 1
    for number in range(options.groups):
        rng = Random(f"{options.seed}/group/{number}")
        own = pools[number % kinds].top
        turn = number // kinds
        main = own[turn % len(own)]
        more = rng.sample(shared, min(options.group_features, len(shared)))
        anew = owned[main][:2] if turn // len(own) % 2 else ()
        over = {name: value(rng, parameters[name].type) for name in anew}
        params = _bound(rng, options, common, parameters) | over
        yield Group(f"group{number:03}", number % kinds, (main, *more), params)


def _bound(
    rng: Random, options: Options, common: Sequence[str], parameters: Mapping[str, Parameter]
) -> dict[str, Scalar]:
    chosen = rng.sample(common, min(options.group_params, len(common)))
    return {name: value(rng, parameters[name].type) for name in chosen}
