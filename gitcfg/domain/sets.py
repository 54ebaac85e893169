"""Sets of values: numbers, addresses, networks and dates as intervals, and text as a list of words."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from gitcfg.domain.addresses import (
    format_address,
    format_network,
    have_one_size,
    network_sizes,
    parse_address,
    parse_network,
    read_addresses,
    read_networks,
    write_addresses,
    write_networks,
)
from gitcfg.domain.intervals import (
    Interval,
    Intervals,
    difference,
    format_date,
    holds,
    intersection,
    parse_date,
    parse_integer,
    read_dates,
    read_integers,
    size,
    union,
    write_dates,
    write_integers,
)
from gitcfg.domain.values import DomainProblem, Kind, Value, Values, is_plain
from gitcfg.model.names import shown


class Codec(msgspec.Struct, frozen=True):
    """The conversions of a kind: values to numbers and back, items to intervals and back."""

    number: Callable[[object], int]
    value: Callable[[int], Value]
    read: Callable[[str], Interval]
    write: Callable[[int, int], Value]


CODECS: Mapping[Kind, Codec] = {
    Kind.INTEGER: Codec(parse_integer, int, read_integers, write_integers),
    Kind.ADDRESS: Codec(parse_address, format_address, read_addresses, write_addresses),
    Kind.NETWORK: Codec(parse_network, format_network, read_networks, write_networks),
    Kind.DATE: Codec(parse_date, format_date, read_dates, write_dates),
}


# Values that are stored as intervals of their numbers.


class Spans(msgspec.Struct, frozen=True, gc=False):
    """A set of numbers, addresses, networks or dates; see `Values`."""

    kind: Kind
    ranges: Intervals = ()

    @property
    def size(self) -> int:
        return size(self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, value: object) -> bool:
        try:
            return holds(self.ranges, CODECS[self.kind].number(value))
        except DomainProblem:
            return False

    def __iter__(self) -> Iterator[Value]:
        value = CODECS[self.kind].value
        return (value(number) for first, last in self.ranges for number in range(first, last + 1))

    def normal(self, value: object) -> Value:
        codec = CODECS[self.kind]
        return codec.value(codec.number(value))

    def items(self) -> tuple[Value, ...]:
        write = CODECS[self.kind].write
        return tuple(write(first, last) for first, last in self.ranges)

    def describe(self) -> str:
        return ", ".join(map(str, self.items())) or "nothing"

    def __and__(self, other: Values) -> Values:
        return Spans(self.kind, intersection(self.ranges, self._alike(other)))

    def __sub__(self, other: Values) -> Values:
        return Spans(self.kind, difference(self.ranges, self._alike(other)))

    def _alike(self, other: Values) -> Intervals:
        return other.ranges if isinstance(other, Spans) and other.kind is self.kind else ()

    def __or__(self, other: Values) -> Values:
        if not self or not other:
            return self if self else other
        if other.kind is not self.kind:
            raise DomainProblem(f"{self.kind.one} and {other.kind.one} are of different kinds")
        found = union(self.ranges, self._alike(other))
        if self.kind is Kind.NETWORK and not have_one_size(network_sizes(found)):
            raise DomainProblem("networks of two lengths overlap")
        return Spans(self.kind, found)


# Text values, in the order in which they are listed.

_MISLEADING = frozenset(",\"'\\")


class Words(msgspec.Struct, frozen=True):
    """A set of text values; see `Values`. `places` maps each word to its position."""

    places: Mapping[str, int] = {}

    def __hash__(self) -> int:
        return hash(tuple(self.places))

    @property
    def kind(self) -> Kind:
        return Kind.TEXT

    @property
    def size(self) -> int:
        return len(self.places)

    def __bool__(self) -> bool:
        return bool(self.places)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value in self.places

    def __iter__(self) -> Iterator[Value]:
        return iter(self.places)

    def normal(self, value: object) -> Value:
        if not isinstance(value, str):
            raise DomainProblem(f"{shown(str(value))} is not text", hint="put it in quotes")
        return value

    def items(self) -> tuple[Value, ...]:
        return tuple(word if is_plain(word) else f"={word}" for word in self.places)

    def describe(self) -> str:
        return ", ".join(_quoted(str(item)) for item in self.items()) or "nothing"

    def __and__(self, other: Values) -> Values:
        return make_words(word for word in self.places if isinstance(other, Words) and word in other)

    def __sub__(self, other: Values) -> Values:
        return make_words(word for word in self.places if not (isinstance(other, Words) and word in other))

    def __or__(self, other: Values) -> Values:
        if not self or not other:
            return self if self else other
        if not isinstance(other, Words):
            raise DomainProblem(f"{self.kind.one} and {other.kind.one} are of different kinds")
        return make_words([*self.places, *other.places])


def make_words(found: Iterable[str]) -> Words:
    """Return the set of these words, each once, in the order given."""
    return Words({word: place for place, word in enumerate(dict.fromkeys(found))})


def _quoted(item: str) -> str:
    """Return an item that cannot be misread as two items or as none: in quotes where necessary."""
    clear = item.isprintable() and item.strip() == item != "" and _MISLEADING.isdisjoint(item)
    return item if clear else json.dumps(item)
