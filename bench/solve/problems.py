"""The problems: as fleets pose them, fresh, and with one node more than stood."""

from collections.abc import Callable, Mapping

from gitcfg.solve import Giving, Placing, Unsolvable, give, place
from tests.solve.fleets import subnets
from tests.solve.pools import addresses

NODES, THINGS, INTERFACES, SUBNETS = 10_000, 30, 600, 20


def services() -> Placing:
    """Two of each of 30 kinds in each subnet of 50, at most four kinds a node."""
    return subnets(NODES, THINGS, 2, 4)


def more_services() -> Placing:
    """The same with one node more, where it stands."""
    found = place(services())
    assert not isinstance(found, Unsolvable)
    return subnets(NODES + 1, THINGS, 2, 4, found)


def interfaces() -> Giving:
    """600 addresses in the pools of 20 subnets, all different."""
    return addresses(INTERFACES, SUBNETS, 250)


def more_interfaces() -> Giving:
    """The same with one interface more, where they stand."""
    found = give(interfaces())
    assert not isinstance(found, Unsolvable)
    return addresses(INTERFACES + 1, SUBNETS, 250, found)


PROBLEMS: Mapping[str, Callable[[], Placing | Giving]] = {
    "10,000 nodes, two of each of 30 kinds a subnet": services,
    "one node more": more_services,
    "600 addresses in 20 subnets": interfaces,
    "one address more": more_interfaces,
}
