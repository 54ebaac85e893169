"""Sets of values against sets of places: every operation, every kind."""

from itertools import islice

import pytest
from hypothesis import given, settings

from gitcfg.domain import DomainProblem, Kind, Value, Values, parse
from tests.domain.universes import WORDS, Drawn, alike, of_words, read_line, texts
from tests.seeds import TIMES

MANY = settings(max_examples=100 * TIMES)
Three = tuple[Drawn, Drawn, Drawn]


def listed(drawn: Drawn, places: frozenset[int]) -> list[Value]:
    return [drawn.universe.values[place] for place in sorted(places)]


@pytest.mark.slow
@MANY
@given(alike())
def test_a_set_holds_what_its_items_say(three: Three) -> None:
    drawn, values = three[0], three[0].values
    assert list(values) == drawn.listed
    assert values.size == len(drawn.places)
    assert bool(values)
    assert [value for value in drawn.universe.values if value in values] == drawn.listed


@pytest.mark.slow
@MANY
@given(alike())
def test_operations_are_those_of_sets(three: Three) -> None:
    (one, a), (other, b) = ((drawn, drawn.values) for drawn in three[:2])
    assert list(a & b) == listed(one, one.places & other.places)
    assert list(a | b) == listed(one, one.places | other.places)
    assert list(a - b) == listed(one, one.places - other.places)
    assert ((a == b), hash(a) == hash(b)) == ((one.places == other.places),) * 2


@pytest.mark.slow
@MANY
@given(alike())
def test_laws(three: Three) -> None:
    a, b, c = (drawn.values for drawn in three)
    assert (a | b).size == a.size + b.size - (a & b).size
    assert all(value in a and value in b for value in a & b)
    assert a & b == b & a
    assert a | b == b | a
    assert (a & b) & c == a & (b & c)
    assert (a | b) | c == a | (b | c)
    assert a & (b | c) == (a & b) | (a & c)
    assert a - b == a - (a & b)
    assert (a - b) | (a & b) == a
    assert not (a - b) & b
    assert a - a == (a - b) & b == (a - a) & a
    assert a | (b - b) == a == (b - b) | a


@pytest.mark.slow
@MANY
@given(alike())
def test_what_is_described_reads_back(three: Three) -> None:
    for values in (three[0].values, three[0].values | three[1].values, three[0].values - three[1].values):
        assert not values or parse(values.items()) == values
        assert not values or parse(list(read_line(values.describe())), declared(values)) == values


def declared(values: Values) -> str | None:
    """A number in a line has lost what makes it one; its parameter's type tells."""
    return "integer" if values.kind is Kind.INTEGER else None


@pytest.mark.slow
@MANY
@given(texts(), texts())
def test_text_keeps_its_order(one: list[str], other: list[str]) -> None:
    a, b = of_words(one), of_words(other)
    assert list(a) == one
    assert list(a & b) == [word for word in one if word in other]
    assert list(a - b) == [word for word in one if word not in other]
    assert list(a | b) == [*one, *(word for word in other if word not in one)]
    assert (a | b).size == a.size + b.size - (a & b).size
    assert [word for word in WORDS if word in a] == [word for word in WORDS if word in one]
    assert (a == b, hash(a) == hash(b)) == (one == other,) * 2
    assert parse(a.items()) == parse(list(read_line(a.describe()))) == a


def test_sets_of_two_kinds_have_nothing_in_common() -> None:
    numbers, words, days = parse([80]), of_words(["80"]), parse(["2026-01-01"])
    for one, other in ((numbers, words), (words, numbers), (numbers, days), (days, words)):
        assert not one & other
        assert one - other == one
        assert one | (other - other) == one == (other - other) | one
        with pytest.raises(DomainProblem, match="of different kinds"):
            one | other
    assert (numbers - numbers).describe() == (words - words).describe() == "nothing"
    assert list(numbers - numbers) == list(words - words) == []


def test_networks_of_two_lengths_are_not_joined() -> None:
    narrow, wide = parse(["10.0.0.0/16 in /24"]), parse(["10.0.0.0/16 in /25"])
    with pytest.raises(DomainProblem, match="two lengths"):
        narrow | wide
    assert not narrow & wide
    six = parse(["2001:db8::/48 in /64"])
    assert (narrow | six).size == 256 + 2**16
    assert parse((narrow | six).items()) == narrow | six


def test_a_large_set_is_nothing_special() -> None:
    everything = parse(["::/0", "0.0.0.0/0", "!2001:db8::/64"])
    assert everything.size == 2**128 + 2**32 - 2**64
    assert list(islice(everything, 2)) == ["0.0.0.0", "0.0.0.1"]
    assert all(address in everything for address in ("255.255.255.255", "::", f"{'ffff:' * 7}ffff"))
    inner = parse(["2001:db8::/63"])
    assert (everything & inner).describe() == "2001:db8:0:1::/64"
    assert parse(["::/0 in /128"]).size == 2**128
    assert parse([f"-{'9' * 100} - {'9' * 100}"]).size == 2 * 10**100 - 1
    assert parse(["0001-01-01 - 9999-12-31"]).size == 3652059
