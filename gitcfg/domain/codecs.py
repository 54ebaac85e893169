"""How each kind of values that are held as numbers is read and written."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from gitcfg.domain import addresses, dates, integers, networks
from gitcfg.domain.intervals import Interval
from gitcfg.domain.kinds import Kind, Value


class Codec(msgspec.Struct, frozen=True):
    """Values as numbers and back, and intervals of them as items of a domain and back."""

    number: Callable[[object], int]
    value: Callable[[int], Value]
    read: Callable[[str], Interval]
    written: Callable[[int, int], Iterator[Value]]


CODECS: Mapping[Kind, Codec] = {
    Kind.INTEGER: Codec(integers.number, integers.value, integers.read, integers.written),
    Kind.ADDRESS: Codec(addresses.number, addresses.value, addresses.read, addresses.written),
    Kind.NETWORK: Codec(networks.number, networks.value, networks.read, networks.written),
    Kind.DATE: Codec(dates.number, dates.value, dates.read, dates.written),
}
