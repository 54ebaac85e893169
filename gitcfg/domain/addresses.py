"""IP addresses and networks as numbers. Numbers of IPv6 are all greater than those of IPv4."""

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv6Address

import msgspec

from gitcfg.domain.intervals import Interval, ends, ordered
from gitcfg.domain.values import DomainProblem, Value
from gitcfg.model.names import shown

SIX = 1 << 130
"""The offset of IPv6's numbers: no interval can run from IPv4 into IPv6, and IPv4 sorts first."""

_LONGEST = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")
_FOUR = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
_PADDED = re.compile(r"(?:^|\.)0[0-9]")


def parse_address(value: object) -> int:
    """Return the number of an address in any notation. Raise DomainProblem if the value is not an address."""
    if not isinstance(value, str) or len(value) > _LONGEST or "%" in value:
        raise _not_an_address(value)
    try:
        return SIX + int(IPv6Address(value)) if ":" in value else int(IPv4Address(value))
    except AddressValueError:
        raise _not_an_address(value) from None


def _not_an_address(value: object) -> DomainProblem:
    text = str(value)
    hint = "write it like 10.0.0.1 or 2001:db8::1"
    if "%" in text:
        hint = "write the address without the name of an interface"
    elif _PADDED.search(text) and ":" not in text:
        hint = "write the parts of an IPv4 address without leading zeros"
    elif _FOUR.fullmatch(text):
        hint = "the parts of an IPv4 address are between 0 and 255"
    return DomainProblem(f"'{shown(text)}' is not an IP address", hint=hint)


def format_address(number: int) -> str:
    """Return an address in its normal form: compressed, in lower case."""
    if number < SIX:
        return str(IPv4Address(number))
    address = IPv6Address(number - SIX)
    # Versions of Python write these in different ways; RFC 5952 (section 5) recommends this one.
    mapped = address.ipv4_mapped
    return f"::ffff:{mapped}" if mapped else str(address)


def address_bits(number: int) -> int:
    """Return the length in bits of the addresses of a number's family."""
    return 32 if number < SIX else 128


def address_family(number: int) -> str:
    """Return a number's family: `IPv4` or `IPv6`."""
    return "IPv4" if number < SIX else "IPv6"


# Blocks of addresses: `10.0.0.0/8`.

_PREFIX = re.compile(r"[0-9]{1,3}")


class Block(msgspec.Struct, frozen=True, gc=False):
    """The addresses that agree in their first `length` bits."""

    first: int
    length: int

    @property
    def last(self) -> int:
        """Its last address."""
        return self.first + (1 << address_bits(self.first) - self.length) - 1

    def __str__(self) -> str:
        return f"{format_address(self.first)}/{self.length}"


def parse_block(value: object) -> Block:
    """Return the block that a text names.

    Raise DomainProblem if the text is not a network, or if bits after its length are set.
    """
    address, slash, length = value.partition("/") if isinstance(value, str) else ("", "", "")
    if not slash:
        raise DomainProblem(
            f"'{shown(str(value))}' is not a network", hint="write an address and a length: 10.0.0.0/8"
        )
    number = parse_address(address)
    found = Block(number, _parse_length(length, number, len(address) + 2))
    within = number % (found.last - number + 1)
    if within:
        network = Block(number - within, found.length)
        raise DomainProblem(
            f"{format_address(number)} is an address within {network}, not its first",
            hint=f"write {network} for the network, {format_address(number)} for the address",
        )
    return found


def _parse_length(text: str, number: int, column: int) -> int:
    """Return the length of a network's prefix. Raise DomainProblem if its family has no such length."""
    most = address_bits(number)
    if not _PREFIX.fullmatch(text) or int(text) > most:
        raise DomainProblem(
            f"'{shown(text)}' is not a prefix length of {address_family(number)}",
            column,
            f"it is between 0 and {most}",
        )
    return int(text)


def _find_block(first: int, last: int) -> Block | None:
    """Return the block of exactly these addresses, or None if they do not form one."""
    count = last - first + 1
    if count & (count - 1) or first % count:
        return None
    return Block(first, address_bits(first) - count.bit_length() + 1)


# IP addresses, of both families.


def read_addresses(text: str) -> Interval:
    """Return the interval of an item: `10.0.0.1`, `10.0.0.1-10.0.0.9`, `10.0.0.0/8`."""
    if "/" in text and "-" not in text:
        found = parse_block(text)
        return found.first, found.last
    begin, end, column = ends(text, _parse_end)
    if address_bits(begin) != address_bits(end):
        raise DomainProblem(
            f"the range begins in {address_family(begin)} and ends in {address_family(end)}",
            column,
            "write one item for each family",
        )
    return ordered(begin, end, column)


def _parse_end(text: object) -> int:
    try:
        return parse_address(text)
    except DomainProblem as problem:
        if not str(text).isdecimal():
            raise
        raise DomainProblem(problem.message, hint="write both ends in full: 10.0.0.1-10.0.0.9") from None


def write_addresses(first: int, last: int) -> Value:
    """Return the item for an interval of addresses."""
    if first == last:
        return format_address(first)
    found = _find_block(first, last)
    return str(found) if found else f"{format_address(first)}-{format_address(last)}"


# Networks of one size: `10.0.0.0/16 in /24` are the 256 networks of that length in it.

_LENGTH_BIT = 132
"""The first bit of the length in a network's number. The bits below it are the network's own first bits."""


def parse_network(value: object) -> int:
    """Return a network's number; networks of one length are numbered in sequence.

    Raise DomainProblem if the value is not a network.
    """
    found = parse_block(value)
    return _network_number(found.first, found.length)


def _network_number(address: int, length: int) -> int:
    """Return the number of the network of this length that contains an address."""
    base = address & SIX
    return (length << _LENGTH_BIT) + base + (address - base >> address_bits(address) - length)


def _block(number: int) -> Block:
    length, rest = number >> _LENGTH_BIT, number & (1 << _LENGTH_BIT) - 1
    base = rest & SIX
    return Block(base + (rest - base << address_bits(rest) - length), length)


def format_network(number: int) -> str:
    """Return the network with this number as text: `ADDRESS/LENGTH`."""
    return str(_block(number))


def read_networks(text: str) -> Interval:
    """Return the interval of an item: `10.0.0.0/16 in /24`, `10.0.1.0/24-10.0.9.0/24`, `10.0.1.0/24`."""
    words = text.split()
    if len(words) == 3 and words[1] == "in":
        return _read_subnets(words[0], words[2], len(text) - len(words[2]) + 1)
    begin, end, column = ends(text, parse_network)
    one, other = _block(begin), _block(end)
    if (one.length, address_bits(one.first)) != (other.length, address_bits(other.first)):
        raise DomainProblem(
            f"the range begins with {one} and ends with {other}, another size",
            column,
            "write both of one length",
        )
    return ordered(begin, end, column)


def _read_subnets(outer: str, length: str, column: int) -> Interval:
    found = parse_block(outer)
    if not length.startswith("/"):
        raise DomainProblem(
            "the length of networks has a slash before it", column, f"write {outer} in /{length}"
        )
    size = _parse_length(length[1:], found.first, column + 1)
    if size < found.length:
        raise DomainProblem(
            f"a network of length {size} is larger than {found}",
            column,
            f"write {found.length} or a greater one",
        )
    return _network_number(found.first, size), _network_number(found.last, size)


def write_networks(first: int, last: int) -> Value:
    """Return the item for an interval of networks."""
    begin, end = _block(first), _block(last)
    outer = _find_block(begin.first, end.last)
    return f"{outer} in /{begin.length}" if outer else f"{begin}-{end}"


def network_sizes(found: Iterable[Interval]) -> set[tuple[int, int]]:
    """Return the sizes of networks in intervals: pairs of the family's address length and prefix length."""
    blocks = [_block(first) for first, _ in found]
    return {(address_bits(each.first), each.length) for each in blocks}


def have_one_size(found: set[tuple[int, int]]) -> bool:
    """Return whether all networks of a family have one length. Networks of different lengths may overlap."""
    return len(found) == len({family for family, _ in found})


def overlapping_networks(text: str, found: set[tuple[int, int]]) -> list[Interval]:
    """Return the networks of these sizes that have an address in common with an item."""
    if "/" in text and ("-" in text or len(text.split()) > 1):
        begin, end = read_networks(text)
        first, last = _block(begin).first, _block(end).last
    else:
        first, last = read_addresses(text)
    lengths = [length for family, length in found if family == address_bits(first)]
    return [(_network_number(first, length), _network_number(last, length)) for length in lengths]
