"""Small worlds of values of each kind: a set of them is a set of places, which no code of ours has made."""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from ipaddress import ip_address, ip_network
from json import JSONDecoder

import msgspec
from hypothesis import strategies as st

from gitcfg.domain import Value, Values, parse

WORDS = (
    "b",
    "a",
    "",
    "!x",
    "=y",
    "1-5",
    " c",
    "a,b",
    'say "d"',
    "10.0.0.1",
    "a - f",
    "2026-01-01",
    "é\n",
    "\\",
    "80",
)


class Universe(msgspec.Struct, frozen=True):
    """All values that a test looks at, in order, and how a range of them is written."""

    name: str
    values: tuple[Value, ...]
    dash: str = "-"

    def __repr__(self) -> str:
        return self.name

    def item(self, first: int, last: int, sign: str = "") -> Value:
        """From one place to another as an item."""
        begin, end = self.values[first], self.values[last]
        if isinstance(begin, int):
            return begin if first == last and not sign else f"{sign}{begin} - {end}"
        if "/" in begin or first != last:
            return f"{sign}{begin}{self.dash}{end}"
        return f"{sign}{begin}"


def _addresses(first: str) -> tuple[str, ...]:
    return tuple(str(ip_address(first) + place) for place in range(40))


SPANS = (
    Universe("integers", tuple(range(-12, 28))),
    Universe("IPv4", _addresses("10.0.0.250")),
    Universe("IPv6", _addresses("2001:db8::fff0")),
    Universe("both", (*_addresses("255.255.255.216"), *_addresses("::"))),
    Universe("dates", tuple((date(2024, 2, 20) + timedelta(day)).isoformat() for day in range(40)), " - "),
    Universe("networks", tuple(map(str, ip_network("10.0.0.0/24").subnets(new_prefix=29)))),
    Universe("networks6", tuple(map(str, ip_network("2001:db8::/59").subnets(new_prefix=64)))),
)
TEXT = Universe("text", WORDS)


class Drawn(msgspec.Struct, frozen=True):
    """A set as gitcfg reads it, and the same as places in its universe."""

    universe: Universe
    values: Values
    places: frozenset[int]

    @property
    def listed(self) -> list[Value]:
        """What it holds, by its places."""
        return [self.universe.values[place] for place in sorted(self.places)]


@st.composite
def ranges(draw: st.DrawFn, universe: Universe, least: int = 0) -> list[tuple[int, int]]:
    """Some ranges of places; none begins in one half of a universe and ends in the other, if it has two."""
    most = len(universe.values) - 1
    pairs = draw(st.lists(st.tuples(st.integers(0, most), st.integers(0, 9)), min_size=least, max_size=6))
    ends = [most if first >= 40 or most < 40 else 39 for first, _ in pairs]
    return [(first, min(first + more, end)) for (first, more), end in zip(pairs, ends, strict=True)]


def covered(pairs: Iterable[tuple[int, int]]) -> frozenset[int]:
    """All places in some ranges."""
    return frozenset(place for first, last in pairs for place in range(first, last + 1))


@st.composite
def sets(draw: st.DrawFn, universe: Universe) -> Drawn:
    """A set of a universe, at times with exclusions; it is never empty."""
    wanted = draw(ranges(universe, 1))
    cuts = [pair for pair in draw(ranges(universe)) if covered([pair]) & covered(wanted)]
    while cuts and not covered(wanted) - covered(cuts):
        cuts.pop()
    items = [*(universe.item(*pair) for pair in wanted), *(universe.item(*pair, "!") for pair in cuts)]
    return Drawn(universe, parse(draw(st.permutations(items))), covered(wanted) - covered(cuts))


@st.composite
def alike(draw: st.DrawFn) -> tuple[Drawn, Drawn, Drawn]:
    """Three sets of one universe."""
    universe = draw(st.sampled_from(SPANS))
    return draw(sets(universe)), draw(sets(universe)), draw(sets(universe))


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    """Some of the words, in any order."""
    return draw(st.lists(st.sampled_from(WORDS), unique=True, min_size=1))


def of_words(found: Iterable[str]) -> Values:
    """A set of text, each item exactly as it is."""
    return parse([f"={word}" for word in found])


def read_line(line: str) -> Iterator[str]:
    """The items that `describe` has put on one line."""
    decoder = JSONDecoder()
    while line:
        if line.startswith('"'):
            item, end = decoder.raw_decode(line)
        else:
            end = line.find(", ") if ", " in line else len(line)
            item = line[:end]
        yield item
        line = line[end:].removeprefix(", ")
