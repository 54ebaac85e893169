"""What may be written, what may not, and what is said about it: cases/domains, and anything at all."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.domain import LONGEST_ITEM, MOST_ITEMS, DomainProblem, Values, parse
from tests.seeds import TIMES

CASES = Path(__file__).parents[1] / "cases/domains"
TYPES = (None, "string", "integer", "number", "path", "expression")
SIGNS = (
    "0",
    "1",
    "9",
    "10.0.0.0",
    "10.0.9.0",
    "2001:db8::",
    "::",
    "2026-01-01",
    "a",
    "é",
    "/24",
    "/8",
    " in ",
)
JOINTS = ("-", " - ", "!", "=", " ", "..", "–", " to ", ":", ".", "/", "%", "\n", "\0")


def rows(name: str, columns: int) -> Iterator[list[str]]:
    """The lines of a table, with cells as long as there is something in them."""
    for line in (CASES / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split(" | ")]
            yield [*cells, *[""] * (columns - len(cells))]


@pytest.mark.parametrize(("items", "kind", "size", "described", "type"), list(rows("accepted.txt", 5)))
def test_accepted(items: str, kind: str, size: str, described: str, type: str) -> None:
    values = parse(json.loads(items), type or None)
    assert (values.kind, str(values.size), values.describe()) == (kind, size, described)
    assert parse(values.items(), type or None) == values


@pytest.mark.parametrize(("items", "place", "message", "hint", "type"), list(rows("refused.txt", 5)))
def test_refused(items: str, place: str, message: str, hint: str, type: str) -> None:
    with pytest.raises(DomainProblem) as told:
        parse(json.loads(items), type or None)
    problem = told.value
    found = "-" if problem.index is None else f"{problem.index}:{problem.column}"
    assert (found, problem.message, problem.hint) == (place, message, hint)
    assert problem.hint


def test_a_problem_says_where() -> None:
    with pytest.raises(DomainProblem, match=r"^item 2, column 4: 'x' is not a whole number$"):
        parse([1, "5- x"], "integer")


def test_limits() -> None:
    assert parse(list(range(0, 2 * MOST_ITEMS, 2))).size == MOST_ITEMS
    assert parse(["x" * LONGEST_ITEM]).size == 1
    for items in ([1] * (MOST_ITEMS + 1), ["x" * (LONGEST_ITEM + 1)]):
        with pytest.raises(DomainProblem, match="at most"):
            parse(items)


@pytest.mark.parametrize(
    "text", ["a-", "- ", " ", "::", ":", ".", "1", "1-", "a..", "!", "=", "/", "0.", "é–", " to ", "\t", "f:"]
)
@pytest.mark.parametrize("tail", ["", " z", "/"])
def test_long_texts_are_read_at_once(text: str, tail: str) -> None:
    """Time that grows with the square of an item's length would be seen here: minutes instead of a blink."""
    item = (text * LONGEST_ITEM)[: LONGEST_ITEM - len(tail)] + tail
    for type in TYPES:
        for each in (item, f"10.0.0.0-{item}"[:LONGEST_ITEM]):
            attempt([each] * 20, type)


def attempt(items: list[object], type: str | None) -> None:
    """Whatever is read comes back; whatever is not is told with a place in it."""
    values = read(items, type)
    if isinstance(values, DomainProblem):
        written = str(items[values.index or 0]) if items else ""
        assert 1 <= values.column <= len(written) + 1
        assert len(str(values)) < 300
        assert values.hint
        return
    assert parse(values.items(), type) == values
    assert values.normal(next(iter(values))) in values


def read(items: list[object], type: str | None) -> Values | DomainProblem:
    try:
        return parse(items, type)
    except DomainProblem as problem:
        return problem


ANYTHING: st.SearchStrategy[object] = st.one_of(
    st.lists(st.sampled_from(SIGNS + JOINTS), max_size=6).map("".join),
    st.text(max_size=20),
    st.integers(),
    st.floats(),
    st.sampled_from([None, True, [], {}, "", b"x"]),
)


@pytest.mark.slow
@settings(max_examples=500 * TIMES)
@given(st.lists(ANYTHING, max_size=3), st.sampled_from([*TYPES, "boolean", "x"]))
def test_anything_is_read_or_refused(items: list[object], type: str | None) -> None:
    attempt(items, type)
