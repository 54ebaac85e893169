"""Networks of one size: `10.0.0.0/16 in /24` are the 256 networks of that length in it."""

from collections.abc import Iterable, Iterator

from gitcfg.domain import addresses
from gitcfg.domain import addresses as ip
from gitcfg.domain.addresses import Block, length_of, parse_block, whole
from gitcfg.domain.intervals import Interval, ends, ordered
from gitcfg.domain.values import DomainProblem, Value

_LENGTH = 132
"""A network's number is its first bits; its length stands above all of them, from this bit on."""


def number(value: object) -> int:
    """A network's number: those of one length follow each other. DomainProblem: it is no network."""
    found = parse_block(value)
    return _packed(found.first, found.length)


def _packed(address: int, length: int) -> int:
    """The number of the network of a length that an address is in."""
    base = address & ip.SIX
    return (length << _LENGTH) + base + (address - base >> ip.address_bits(address) - length)


def _block(number: int) -> Block:
    length, rest = number >> _LENGTH, number & (1 << _LENGTH) - 1
    base = rest & ip.SIX
    return Block(base + (rest - base << ip.address_bits(rest) - length), length)


def value(number: int) -> Value:
    """A network as it is written."""
    return str(_block(number))


def read(text: str) -> Interval:
    """The networks of an item: `10.0.0.0/16 in /24`, `10.0.1.0/24-10.0.9.0/24`, `10.0.1.0/24`."""
    words = text.split()
    if len(words) == 3 and words[1] == "in":
        return _within(words[0], words[2], len(text) - len(words[2]) + 1)
    begin, end, column = ends(text, number)
    one, other = _block(begin), _block(end)
    if (one.length, ip.address_bits(one.first)) != (other.length, ip.address_bits(other.first)):
        raise DomainProblem(
            f"the range begins with {one} and ends with {other}, another size",
            column,
            "write both of one length",
        )
    return ordered(begin, end, column)


def _within(outer: str, length: str, column: int) -> Interval:
    found = parse_block(outer)
    if not length.startswith("/"):
        raise DomainProblem(
            "the networks' length has a slash in front", column, f"write {outer} in /{length}"
        )
    size = length_of(length[1:], found.first, column + 1)
    if size < found.length:
        raise DomainProblem(
            f"a network of length {size} is larger than {found}",
            column,
            f"write {found.length} or a greater one",
        )
    return _packed(found.first, size), _packed(found.last, size)


def written(first: int, last: int) -> Iterator[Value]:
    """Items that say an interval."""
    begin, end = _block(first), _block(last)
    outer = whole(begin.first, end.last)
    yield f"{outer} in /{begin.length}" if outer else f"{begin}-{end}"


def sizes(found: Iterable[Interval]) -> set[tuple[int, int]]:
    """The families (as the length of their addresses) and lengths of networks in intervals."""
    blocks = [_block(first) for first, _ in found]
    return {(ip.address_bits(each.first), each.length) for each in blocks}


def one_size(found: set[tuple[int, int]]) -> bool:
    """Are all networks of a family of one length? Otherwise two that are not equal may overlap."""
    return len(found) == len({family for family, _ in found})


def overlapping(text: str, found: set[tuple[int, int]]) -> list[Interval]:
    """The networks of these sizes that share an address with what an item stands for."""
    first, last = _covered(text)
    lengths = [length for family, length in found if family == ip.address_bits(first)]
    return [(_packed(first, length), _packed(last, length)) for length in lengths]


def _covered(text: str) -> Interval:
    """The addresses of an item that is one of networks or one of addresses."""
    if "/" in text and ("-" in text or len(text.split()) > 1):
        begin, end = read(text)
        return _block(begin).first, _block(end).last
    return addresses.read(text)
