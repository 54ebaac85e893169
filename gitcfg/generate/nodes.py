"""The files of nodes and node sets."""

from collections.abc import Iterator
from random import Random

from gitcfg.generate.chance import random_part, sample
from gitcfg.generate.emit import to_yaml
from gitcfg.generate.groups import group_kinds
from gitcfg.generate.options import Options
from gitcfg.generate.plan import Plan
from gitcfg.generate.values import draw_facts


def host(options: Options, number: int | str) -> str:
    """A node's host name. Numbers count from 1; text stands for several, in the notation of node sets."""
    return f"node{number if isinstance(number, str) else digits(options, number)}.example.com"


def digits(options: Options, number: int) -> str:
    """A node's number as host names have it: all equally wide."""
    return f"{number:0{max(5, len(str(options.nodes)))}}"


def node_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Node sets with the files that some members have of their own, then one file for each other node."""
    in_sets = round(plan.options.sets * plan.options.nodes)
    for first in range(1, in_sets + 1, plan.options.set_size):
        yield from _set(plan, range(first, min(first + plan.options.set_size, in_sets + 1)))
    for number in range(in_sets + 1, plan.options.nodes + 1):
        rng = random_part(plan.options, "node", number)
        yield f"nodes/{host(plan.options, number)}.yaml", to_yaml(_machine(plan, rng))


def _machine(plan: Plan, rng: Random) -> dict[str, object]:
    """What a node or a set of nodes says of itself."""
    groups = [
        rng.choice(plan.groups[kind :: group_kinds(plan.options)]) for kind in range(plan.options.memberships)
    ]
    own = rng.random() < plan.options.identity
    without = rng.random() < plan.options.without
    return {
        "groups": [group.name for group in groups],
        "features": plan.any_features(rng, plan.options.identity_features) if own else [],
        "without": sample(rng, plan.spare(groups), 1) if without else [],
        "params": plan.bindings(rng, plan.options.identity_params) if own else {},
        "labels": [rng.choice(("server", "workstation")), rng.choice(("ssd", "disk"))],
        "facts": draw_facts(rng),
    }


def _set(plan: Plan, numbers: range) -> Iterator[tuple[str, str]]:
    rng = random_part(plan.options, "node set", numbers.start)
    said = _machine(plan, rng)
    span = "-".join(digits(plan.options, number) for number in dict.fromkeys((numbers[0], numbers[-1])))
    members = host(plan.options, f"[{span}]" if len(numbers) > 1 else span)
    yield f"nodesets/set{digits(plan.options, numbers.start)}.yaml", to_yaml({"nodes": members} | said)
    for number in numbers:
        if rng.random() < plan.options.set_files:
            yield f"nodes/{host(plan.options, number)}.yaml", _member(plan, rng, said["features"])


def _member(plan: Plan, rng: Random, given: object) -> str:
    """A node's own file over its set's: something of its own, and a feature more than the set gives."""
    assert isinstance(given, list)
    more = [name for name in plan.any_features(rng, plan.options.identity_features) if name not in given]
    return to_yaml(
        {
            "features": {"$append": more} if more else {},
            "params": plan.bindings(rng, max(plan.options.identity_params, 1)),
            "facts": {"cores": rng.randrange(1000)},
        }
    )
