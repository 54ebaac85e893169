"""Values as fleets need them: addresses of interfaces, one pool a subnet, all of them different."""

from collections.abc import Mapping

from gitcfg.solve import Apart, Giving, Value, Want, Within
from tests.solve.span import Span


def addresses(count: int, subnets: int, size: int, stood: Mapping[str, Value] | None = None) -> Giving:
    """So many interfaces in turn over so many subnets, each of whose pools has so many addresses."""
    pools = [
        Within(f"pool {number}", Span(256 * number + 1, 256 * number + size)) for number in range(subnets)
    ]
    slots = [f"n{number:05}/eth0" for number in range(count)]
    return Giving(
        [Want(slot, [pools[n % subnets]], (stood or {}).get(slot)) for n, slot in enumerate(slots)],
        [Apart("addresses differ", slots)],
    )


def nested(count: int) -> Giving:
    """The first half may have any of so many values; the second only the lower half of them."""
    slots = [f"n{number:05}" for number in range(count)]
    wide, low = Within("wide", Span(1, count)), Within("low", Span(1, count // 2))
    return Giving(
        [Want(slot, [wide if n < count // 2 else low]) for n, slot in enumerate(slots)],
        [Apart("all differ", slots)],
    )
