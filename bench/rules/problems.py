"""The problems that are solved alone, without a repository: fresh, and with one node more than stood."""

from collections.abc import Callable, Collection, Iterator, Mapping

from bench.rules.study import SERVERS, Subnet, subnets
from gitcfg.domain import Values, parse
from gitcfg.solve import (
    AllDifferent,
    Bound,
    InDomain,
    PlacementProblem,
    Spot,
    Unsolvable,
    Value,
    ValueProblem,
    ValueSlot,
    assign_values,
    place,
)

Problem = PlacementProblem | ValueProblem
RACK = 50
EACH = 2
"""So many of every feature in each rack."""
MOST = 4
"""At most so many of the features on a node."""
FEATURES = 30


def placements(nodes: int, features: int = FEATURES, previous: Collection[Spot] = ()) -> PlacementProblem:
    """Each rack has two of every feature, and no node more than four of them; the last has the rest."""
    things = [f"f{number:02}" for number in range(features)]
    names = [f"n{number:05}" for number in range(nodes)]
    starts = range(0, nodes - RACK + 1, RACK) or range(1)
    racks = [names[start : None if start == starts[-1] else start + RACK] for start in starts]
    bounds = [
        Bound(f"two-{thing}", EACH, EACH, [(thing, name) for name in rack])
        for thing in things
        for rack in racks
    ]
    bounds += [Bound("at-most-four", 0, MOST, [(thing, name) for thing in things]) for name in names]
    return PlacementProblem(things=things, slots=names, bounds=bounds, previous=previous)


def one_node_more(nodes: int) -> PlacementProblem:
    """The same with one node more, where all stands."""
    found = place(placements(nodes))
    assert not isinstance(found, Unsolvable)
    return placements(nodes + 1, previous=found)


def addresses(machines: int, count: int = 20, previous: Mapping[str, Value] | None = None) -> ValueProblem:
    """An address for each machine of the case study, gateways and switches aside."""
    public = InDomain("public-addresses", parse(["134.58.39.0-134.58.47.255"]))
    private = InDomain("private-addresses", parse(["10.0.0.0/16"]))
    wants: list[ValueSlot] = []
    for subnet in subnets(machines, count):
        within = public if subnet.kind == "public" else private
        own = InDomain(subnet.name, _range(subnet))
        wants += [ValueSlot(slot, (within, own), (previous or {}).get(slot)) for slot in _slots(subnet)]
    apart = [
        AllDifferent(whole.cause, [want.slot for want in wants if want.within[0] is whole])
        for whole in (public, private)
    ]
    return ValueProblem(sorted(wants, key=lambda want: want.slot), apart)


def one_address_more(machines: int) -> ValueProblem:
    """The same with one machine more, where all have theirs."""
    found = assign_values(addresses(machines))
    assert not isinstance(found, Unsolvable)
    return addresses(machines + 1, previous=found)


PLACEMENTS, ADDRESSES = "placements", "addresses"
PROBLEMS: Mapping[str, Callable[[int], Problem]] = {
    PLACEMENTS: placements,
    "placements, one node more": one_node_more,
    ADDRESSES: addresses,
    "addresses, one more": one_address_more,
}
"""Each with its number of nodes."""


def _range(subnet: Subnet) -> Values:
    return parse([f"{subnet.prefix}.10-{subnet.prefix}.254"])


def _slots(subnet: Subnet) -> Iterator[str]:
    yield from (f"{subnet.name}-server{number + 1}/eth0" for number in range(SERVERS))
    desktops = subnet.machines - SERVERS - 2
    yield from (f"{subnet.name}-desktop{number + 1:02}/eth0" for number in range(desktops))


def valid(problem: PlacementProblem, placed: Collection[Spot]) -> bool:
    """Does everything hold that bounds ask for?"""
    there = set(placed)
    return all(
        bound.least <= len(there.intersection(bound.members)) <= (bound.most or 0) for bound in problem.bounds
    )


def different(problem: ValueProblem, values: Mapping[str, Value]) -> bool:
    """Has each slot a value within its domains, and no two that are apart the same?"""
    inside = all(values[want.slot] in one.domain for want in problem.wants for one in want.within)
    return inside and all(
        len({values[slot] for slot in group.slots}) == len(group.slots) for group in problem.apart
    )
