"""Values as fleets need them: addresses of interfaces, one pool a subnet, all of them different."""

from collections.abc import Mapping

from gitcfg.solve import AllDifferent, InDomain, Value, ValueProblem, ValueSlot
from tests.solve.span import Span


def addresses(
    count: int, subnets: int, size: int, previous: Mapping[str, Value] | None = None
) -> ValueProblem:
    """So many interfaces in turn over so many subnets, each of whose pools has so many addresses."""
    pools = [
        InDomain(f"pool {number}", Span(256 * number + 1, 256 * number + size)) for number in range(subnets)
    ]
    slots = [f"n{number:05}/eth0" for number in range(count)]
    return ValueProblem(
        [ValueSlot(slot, [pools[n % subnets]], (previous or {}).get(slot)) for n, slot in enumerate(slots)],
        [AllDifferent("addresses differ", slots)],
    )


def nested(count: int) -> ValueProblem:
    """The first half may have any of so many values; the second only the lower half of them."""
    slots = [f"n{number:05}" for number in range(count)]
    wide, low = InDomain("wide", Span(1, count)), InDomain("low", Span(1, count // 2))
    return ValueProblem(
        [ValueSlot(slot, [wide if n < count // 2 else low]) for n, slot in enumerate(slots)],
        [AllDifferent("all differ", slots)],
    )
