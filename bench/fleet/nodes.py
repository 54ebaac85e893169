"""The nodes of a fleet, and its node sets."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from bench.fleet.model import Group, Node, NodeSet, Parameter, Scalar
from bench.fleet.options import Options
from bench.fleet.values import value


def nodes(
    options: Options,
    groups: Sequence[Group],
    shared: Sequence[str],
    common: Sequence[str],
    parameters: Mapping[str, Parameter],
) -> Iterator[Node]:
    """All nodes, each drawn on its own: more nodes leave the others as they were."""
    kinds = _kinds(options, groups)
    for number in range(options.nodes):
        rng = Random(f"{options.seed}/node/{number}")
        members = tuple(rng.choice(kind).name for kind in kinds)
        own = rng.random() < options.identity
        features = rng.sample(shared, min(options.identity_features * own, len(shared)))
        params = own_params(rng, options, common, parameters) if own else {}
        yield Node(f"node{number:06}.example.com", members, tuple(features), params)


def sets(
    options: Options, groups: Sequence[Group], common: Sequence[str], parameters: Mapping[str, Parameter]
) -> Iterator[NodeSet]:
    """All node sets; each has parameters of its own, so that each is another class."""
    kinds = _kinds(options, groups)
    for number in range(options.sets):
        rng = Random(f"{options.seed}/set/{number}")
        first = number * options.set_size
        span = f"node[{first:07}-{first + options.set_size - 1:07}].example.com"
        members = tuple(rng.choice(kind).name for kind in kinds)
        yield NodeSet(f"set{number:03}", span, members, own_params(rng, options, common, parameters))


def own_params(
    rng: Random, options: Options, common: Sequence[str], parameters: Mapping[str, Parameter]
) -> dict[str, Scalar]:
    """What one node says itself."""
    chosen = rng.sample(common, min(options.identity_params, len(common)))
    return {name: value(rng, parameters[name].type) for name in chosen}


def _kinds(options: Options, groups: Sequence[Group]) -> list[list[Group]]:
    kinds = [[one for one in groups if one.kind == kind] for kind in range(options.memberships)]
    return [kind for kind in kinds if kind]
