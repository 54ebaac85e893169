"""Sets of values against sets of places: every operation, every kind."""

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.domain import DomainProblem, Kind, Taken, Value, Values, parse
from tests.domain.universes import SPANS, WORDS, Drawn, alike, of_words, read_line, sets, texts
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
    assert [values.nth(place) for place in range(values.size)] == drawn.listed
    for place in (-1, values.size):
        with pytest.raises(IndexError):
            values.nth(place)


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
@given(alike(), st.data())
def test_the_first_that_is_free(three: Three, data: st.DataObject) -> None:
    drawn, values = three[0], three[0].values
    window = drawn.universe.values[min(drawn.places) :][:8]
    used = data.draw(st.permutations([*window, *window[:2]]))[: data.draw(st.integers(0, 10))]
    free = next((value for value in drawn.listed if value not in used), None)
    assert values.first_free(set(used)) == free
    taken = Taken(values.kind, used)
    assert values.first_free(taken) == free
    assert [value for value in drawn.universe.values if value in taken] == [
        value for value in drawn.universe.values if value in used
    ]


@MANY
@given(st.sampled_from(SPANS).flatmap(sets))
def test_all_are_given_out_one_after_the_other(drawn: Drawn) -> None:
    taken = Taken(drawn.values.kind)
    given_out = []
    while (value := drawn.values.first_free(taken)) is not None:
        taken.add(value)
        given_out.append(value)
    assert given_out == drawn.listed


@pytest.mark.slow
@MANY
@given(alike(), st.data())
def test_sets_in_turn_give_out_each_value_once(three: Three, data: st.DataObject) -> None:
    taken, used = Taken(three[0].values.kind), set[Value]()
    for drawn in data.draw(st.lists(st.sampled_from(three), max_size=40)):
        free = next((value for value in drawn.listed if value not in used), None)
        assert drawn.values.first_free(taken) == free
        if free is not None:
            taken.add(free)
            used.add(free)


@pytest.mark.slow
@MANY
@given(texts(), texts(), st.sets(st.sampled_from(WORDS)))
def test_text_keeps_its_order(one: list[str], other: list[str], used: set[str]) -> None:
    a, b = of_words(one), of_words(other)
    assert list(a) == one == [a.nth(place) for place in range(a.size)]
    assert list(a & b) == [word for word in one if word in other]
    assert list(a - b) == [word for word in one if word not in other]
    assert list(a | b) == [*one, *(word for word in other if word not in one)]
    assert (a | b).size == a.size + b.size - (a & b).size
    assert [word for word in WORDS if word in a] == [word for word in WORDS if word in one]
    assert (a == b, hash(a) == hash(b)) == (one == other,) * 2
    free = next((word for word in one if word not in used), None)
    assert a.first_free(used) == a.first_free(Taken(Kind.TEXT, used)) == free
    assert parse(a.items()) == parse(list(read_line(a.describe()))) == a
    for place in (-1, a.size):
        with pytest.raises(IndexError):
            a.nth(place)


def test_sets_of_two_kinds_have_nothing_in_common() -> None:
    numbers, words, days = parse([80]), of_words(["80"]), parse(["2026-01-01"])
    for one, other in ((numbers, words), (words, numbers), (numbers, days), (days, words)):
        assert not one & other
        assert one - other == one
        assert one | (other - other) == one == (other - other) | one
        with pytest.raises(DomainProblem, match="not of one kind"):
            one | other
    assert numbers.first_free(Taken(Kind.DATE, ["0001-03-21"])) == 80
    assert days.first_free(Taken(Kind.TEXT, ["2026-01-01"])) == "2026-01-01"
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
    assert everything.nth(2**32) == "::"
    assert everything.nth(everything.size - 1) == "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
    inner = parse(["2001:db8::/63"])
    assert (everything & inner).describe() == "2001:db8:0:1::/64"
    assert parse(["::/0 in /128"]).size == 2**128
    dense = Taken(Kind.ADDRESS, (f"2001:db8:0:1::{place:x}" for place in range(5000)))
    assert (everything & inner).first_free(dense) == "2001:db8:0:1::1388"
    assert parse([f"-{'9' * 100} - {'9' * 100}"]).size == 2 * 10**100 - 1
    assert parse(["0001-01-01 - 9999-12-31"]).size == 3652059


def test_what_is_no_such_value_takes_nothing() -> None:
    taken = Taken(Kind.ADDRESS, ["dhcp", 5, None, "2001:DB8:0::1"])
    assert "2001:db8::1" in taken
    assert "dhcp" not in taken
    words = Taken(Kind.TEXT, [5, ["5"], "6"])
    assert [value for value in (5, "5", ["5"], "6") if value in words] == ["6"]
