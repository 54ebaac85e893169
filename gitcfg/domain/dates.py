"""Days of the calendar, as ISO 8601 writes them."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime

from gitcfg.domain.intervals import Interval, interval
from gitcfg.domain.values import DomainProblem, Value
from gitcfg.model.names import shown

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_LENGTH = len("2026-01-31")


def number(value: object) -> int:
    """The day's number, counted from the first of January of the year 1. DomainProblem: it is no date."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.toordinal()
    text = shown(str(value))
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise DomainProblem(f"'{text}' is no date", hint="write year, month and day: 2026-01-31")
    try:
        return date.fromisoformat(value).toordinal()
    except ValueError:
        raise DomainProblem(f"the calendar has no {text}", hint=_nearest(value)) from None


def _nearest(text: str) -> str:
    """What is possible in a date's place."""
    year, month, _ = map(int, text.split("-"))
    if year and 1 <= month <= 12:
        return f"the days of that month are 01 to {monthrange(year, month)[1]}"
    return "months are 01 to 12" if year else "years begin with 0001"


def value(number: int) -> Value:
    """A day as ISO 8601 writes it."""
    return date.fromordinal(number).isoformat()


def read(text: str) -> Interval:
    """The days of an item: `2026-01-31`, `2026-01-01 - 2026-12-31`."""
    return interval(text, number, after=_LENGTH)


def written(first: int, last: int) -> Iterator[Value]:
    """Items that say an interval."""
    yield value(first) if first == last else f"{value(first)} - {value(last)}"
