"""Sets of integers as sorted intervals with gaps between them; whole numbers and dates as such integers."""

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from itertools import chain
from operator import itemgetter

from gitcfg.domain.values import DomainProblem, Value, is_decimal
from gitcfg.model.names import shown

Interval = tuple[int, int]
"""The first and the last number, both inclusive."""

Intervals = tuple[Interval, ...]


def merged(found: Iterable[Interval]) -> Intervals:
    """Return intervals as a set: sorted, those that overlap or touch joined."""
    joined: list[Interval] = []
    for first, last in sorted(found):
        if not joined or first > joined[-1][1] + 1:
            joined.append((first, last))
        elif last > joined[-1][1]:
            joined[-1] = (joined[-1][0], last)
    return tuple(joined)


def union(left: Intervals, right: Intervals) -> Intervals:
    """Return the numbers that are in at least one of two sets."""
    return merged(chain(left, right))


def intersection(left: Intervals, right: Intervals) -> Intervals:
    """Return the numbers that are in both sets."""
    common: list[Interval] = []
    one = other = 0
    while one < len(left) and other < len(right):
        first = max(left[one][0], right[other][0])
        last = min(left[one][1], right[other][1])
        if first <= last:
            common.append((first, last))
        if left[one][1] < right[other][1]:
            one += 1
        else:
            other += 1
    return tuple(common)


def difference(left: Intervals, right: Intervals) -> Intervals:
    """Return the numbers of the first set that are not in the second."""
    return intersection(left, tuple(_gaps(right, left[0][0], left[-1][1]))) if left else ()


def _gaps(found: Intervals, first: int, last: int) -> Iterator[Interval]:
    """Yield the gaps of a set between two numbers. The first and the last gap may extend beyond these."""
    for begin, end in found:
        if first < begin:
            yield first, begin - 1
        first = end + 1
    yield first, max(first, last)


def size(found: Intervals) -> int:
    """Return the number of integers in a set."""
    return sum(last - first + 1 for first, last in found)


def holds(found: Intervals, number: int) -> bool:
    """Return whether a set contains a number."""
    return touches(found, number, number)


def touches(found: Intervals, first: int, last: int) -> bool:
    """Return whether a set contains any number of an interval."""
    at = bisect_left(found, first, key=itemgetter(1))
    return at < len(found) and found[at][0] <= last


# The two ends of a range in an item's text.

Read = Callable[[object], int]
"""A function from a value to its number. It raises DomainProblem for a value of another kind."""


def interval(text: str, number: Read, after: int = 1) -> Interval:
    """Return the interval of a value or `FIRST-LAST`.

    A hyphen before column `after` does not separate a range.
    """
    begin, end, column = ends(text, number, after)
    return ordered(begin, end, column)


def ends(text: str, number: Read, after: int = 1) -> tuple[int, int, int]:
    """Return the numbers of a range's ends, and the column of the second.

    For a single value both are the same, and the column is 1.
    """
    at = text.find("-", after)
    if at < 0:
        begin = number(text)
        return begin, begin, 1
    last = text[at + 1 :].lstrip()
    column = len(text) - len(last) + 1
    begin = number(text[:at].rstrip())
    if not last:
        raise DomainProblem("the range has no end", column, "write both ends, or one value")
    try:
        return begin, number(last), column
    except DomainProblem as problem:
        raise problem.moved(column - 1) from None


def ordered(begin: int, end: int, column: int) -> Interval:
    """Return the interval between two ends. Raise DomainProblem if the second is smaller than the first."""
    if end < begin:
        raise DomainProblem("the range ends before it begins", column, "write its smallest value first")
    return begin, end


# Whole numbers: ports, counts, user ids.

_MOST_DIGITS = 100
_TOO_LARGE = 10**_MOST_DIGITS


def parse_integer(value: object) -> int:
    """Return the integer that a value means: `80`, `"80"`, `80.0`. Raise DomainProblem if it is not one."""
    if isinstance(value, str) and is_decimal(value):
        # Python needs time that grows with the square of a text's length to convert it to a number.
        return parse_integer(int(value) if len(value) <= 2 * _MOST_DIGITS else _TOO_LARGE)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        text = f"'{shown(value)}'" if isinstance(value, str) else shown(str(value))
        raise DomainProblem(f"{text} is not a whole number", hint="write digits: 80, or 1024-65535 in quotes")
    if abs(value) >= _TOO_LARGE:
        raise DomainProblem(f"a number may have {_MOST_DIGITS} digits at most", hint="write a smaller one")
    return value


def read_integers(text: str) -> Interval:
    """Return the interval of an item: `80`, `1024-65535`, `-5 - -1`."""
    return interval(text, parse_integer)


def write_integers(first: int, last: int) -> Value:
    """Return the item for an interval of integers."""
    blank = " " if first < 0 else ""
    return first if first == last else f"{first}{blank}-{blank}{last}"


# Days of the calendar, as ISO 8601 writes them.

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_LENGTH = len("2026-01-31")


def parse_date(value: object) -> int:
    """Return a day's ordinal: 1 January of the year 1 is 1.

    Raise DomainProblem if the value is not a date.
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.toordinal()
    text = shown(str(value))
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise DomainProblem(f"'{text}' is not a date", hint="write year, month and day: 2026-01-31")
    try:
        return date.fromisoformat(value).toordinal()
    except ValueError:
        year, month, _ = map(int, value.split("-"))
        if not year:
            hint = "years begin with 0001"
        elif not 1 <= month <= 12:
            hint = "months are 01 to 12"
        else:
            hint = f"the days of that month are 01 to {monthrange(year, month)[1]}"
        raise DomainProblem(f"the calendar has no {text}", hint=hint) from None


def format_date(number: int) -> str:
    """Return a day in ISO 8601: `2026-01-31`."""
    return date.fromordinal(number).isoformat()


def read_dates(text: str) -> Interval:
    """Return the interval of an item: `2026-01-31`, `2026-01-01 - 2026-12-31`."""
    return interval(text, parse_date, after=_DATE_LENGTH)


def write_dates(first: int, last: int) -> Value:
    """Return the item for an interval of days."""
    return format_date(first) if first == last else f"{format_date(first)} - {format_date(last)}"
