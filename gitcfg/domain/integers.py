"""Whole numbers: ports, counts, user ids."""

from collections.abc import Iterator

from gitcfg.domain.intervals import Interval, interval
from gitcfg.domain.shapes import is_decimal
from gitcfg.domain.values import DomainProblem, Value
from gitcfg.model.names import shown

_MOST_DIGITS = 100
_TOO_LARGE = 10**_MOST_DIGITS


def number(value: object) -> int:
    """The number that a value means: `80`, `"80"`, `80.0`. DomainProblem: none."""
    if isinstance(value, str) and is_decimal(value):
        return _decimal(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise DomainProblem(
            f"{_quoted(value)} is no whole number", hint="write digits: 80, or 1024-65535 in quotes"
        )
    if abs(value) >= _TOO_LARGE:
        raise DomainProblem(f"a number may have {_MOST_DIGITS} digits at most", hint="write a smaller one")
    return value


def _decimal(text: str) -> int:
    # Python takes time that grows with the square of a text's length to read it as a number.
    return number(int(text) if len(text) <= 2 * _MOST_DIGITS else _TOO_LARGE)


def _quoted(value: object) -> str:
    return f"'{shown(value)}'" if isinstance(value, str) else shown(str(value))


def value(number: int) -> Value:
    """A number's value: itself."""
    return number


def read(text: str) -> Interval:
    """The numbers of an item: `80`, `1024-65535`, `-5 - -1`."""
    return interval(text, number)


def written(first: int, last: int) -> Iterator[Value]:
    """Items that say an interval."""
    blank = " " if first < 0 else ""
    yield first if first == last else f"{first}{blank}-{blank}{last}"
