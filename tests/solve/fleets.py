"""Problems as fleets pose them, drawn from a seed: so many of a kind per subnet, at most so many a node."""

from random import Random

from gitcfg.solve import Bound, Excludes, Fixed, Implies, PlacementProblem, Spot


def fleet(seed: int) -> PlacementProblem:
    """Up to 16 nodes and four features: sometimes easily placed, often tight, now and then impossible."""
    draw = Random(seed)
    nodes = [f"n{n:02}" for n in range(draw.randint(6, 16))]
    things = [f"f{n}" for n in range(draw.randint(2, 4))]
    subnets = [nodes[: len(nodes) // 2], nodes[len(nodes) // 2 :]]
    wanted = {thing: draw.choice((1, 1, 2, 2)) for thing in things}
    bounds = [
        Bound(f"{thing} per subnet", wanted[thing], wanted[thing], _candidates(draw, thing, subnet))
        for thing in things
        for subnet in subnets
    ]
    most = draw.choice((1, 2, 2, 3))
    bounds += [Bound("limit", 0, most, [(thing, node) for thing in things]) for node in nodes]
    return PlacementProblem(
        things=things,
        slots=nodes,
        bounds=bounds,
        fixed=[
            Fixed(f"by hand {n}", _spot(draw, things, nodes), draw.random() < 0.5)
            for n in range(draw.choice((0, 0, 1, 2)))
        ],
        implied=[Implies("needs", ("f0", node), ("f1", node)) for node in nodes if draw.random() < 0.03],
        excluded=[Excludes("conflict", ("f0", node), ("f1", node)) for node in nodes if draw.random() < 0.3],
        previous=[_spot(draw, things, nodes) for _ in range(draw.choice((0, 4, 12)))],
    )


def _candidates(draw: Random, thing: str, subnet: list[str]) -> list[Spot]:
    where = draw.choice((1.0, 1.0, 0.8))
    return [(thing, node) for node in subnet if draw.random() < where]


def _spot(draw: Random, things: list[str], nodes: list[str]) -> Spot:
    return draw.choice(things), draw.choice(nodes)


def subnets(
    nodes: int, things: int, wanted: int, most: int, previous: tuple[Spot, ...] = (), per: int = 50
) -> PlacementProblem:
    """So many of each thing in each subnet, at most so many things a node; the last subnet has the rest."""
    slots = [f"n{number:05}" for number in range(nodes)]
    names = [f"f{number:02}" for number in range(things)]
    begins = range(0, max(nodes // per, 1) * per, per)
    parts = [slots[begin : None if begin == begins[-1] else begin + per] for begin in begins]
    bounds = [
        Bound(f"{thing} per subnet", wanted, wanted, [(thing, node) for node in part])
        for thing in names
        for part in parts
    ]
    bounds += [Bound("limit", 0, most, [(thing, node) for thing in names]) for node in slots]
    return PlacementProblem(names, slots, bounds, previous=previous)
