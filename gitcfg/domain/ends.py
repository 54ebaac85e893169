"""The two ends of a range in an item's text."""

from collections.abc import Callable

from gitcfg.domain.intervals import Interval
from gitcfg.domain.problem import DomainProblem

Read = Callable[[object], int]
"""A value's number. DomainProblem: it is no such value."""


def interval(text: str, number: Read, after: int = 1) -> Interval:
    """The numbers that a value or `FIRST-LAST` stands for; no hyphen before column `after` is a range's."""
    begin, end, column = ends(text, number, after)
    return ordered(begin, end, column)


def ends(text: str, number: Read, after: int = 1) -> tuple[int, int, int]:
    """The numbers of a range's ends, and the second's column; of a single value they are the same."""
    at = text.find("-", after)
    if at < 0:
        begin = number(text)
        return begin, begin, 1
    last = text[at + 1 :].lstrip()
    column = len(text) - len(last) + 1
    begin = number(text[:at].rstrip())
    if not last:
        raise DomainProblem("the range has no second end", column, "write both ends, or one value")
    try:
        return begin, number(last), column
    except DomainProblem as problem:
        raise problem.moved(column - 1) from None


def ordered(begin: int, end: int, column: int) -> Interval:
    """A range from one end to the other. DomainProblem: they are the wrong way round."""
    if end < begin:
        raise DomainProblem("the range ends before it begins", column, "write its least value first")
    return begin, end
