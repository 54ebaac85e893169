"""IP addresses, of both families."""

from collections.abc import Iterator

from gitcfg.domain import ip
from gitcfg.domain.blocks import block, whole
from gitcfg.domain.ends import ends, ordered
from gitcfg.domain.intervals import Interval
from gitcfg.domain.ip import number as number
from gitcfg.domain.kinds import Value
from gitcfg.domain.problem import DomainProblem


def value(number: int) -> Value:
    """An address as it is written."""
    return ip.text(number)


def read(text: str) -> Interval:
    """The addresses of an item: `10.0.0.1`, `10.0.0.1-10.0.0.9`, `10.0.0.0/8`."""
    if "/" in text and "-" not in text:
        found = block(text)
        return found.first, found.last
    begin, end, column = ends(text, _number)
    if ip.bits(begin) != ip.bits(end):
        raise DomainProblem(
            f"the range begins in {ip.family(begin)} and ends in {ip.family(end)}",
            column,
            "write one item for each family",
        )
    return ordered(begin, end, column)


def _number(text: object) -> int:
    try:
        return ip.number(text)
    except DomainProblem as problem:
        if not str(text).isdecimal():
            raise
        raise DomainProblem(problem.message, hint="write both ends in full: 10.0.0.1-10.0.0.9") from None


def written(first: int, last: int) -> Iterator[Value]:
    """Items that say an interval."""
    found = whole(first, last)
    if first == last:
        yield ip.text(first)
    else:
        yield str(found) if found else f"{ip.text(first)}-{ip.text(last)}"
