"""Composition is associative, and composing before applying is the same as applying one by one."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gitcfg.compile.operations import NOTHING, Step, fold
from gitcfg.compile.partial import Cell, compose, join, make_cell
from gitcfg.model import Op, Origin
from gitcfg.model.secrets import secret_value
from tests.properties.runs import DEEP, QUICK

PLACE = Origin("features/A.yaml")
VALUES: Mapping[str, tuple[Any, ...]] = {
    "list": ([], ["a"], ["a", "b"], ["b", "a", "b"]),
    "expression": ("a", "b && c", "a || b", "x ? y : z", "(a)"),
    "map": ({}, {"a": 1}, {"a": {"b": 1}}, {"a": {"c": 2}, "d": [1]}),
}
COMPOSING = {
    "list": (Op.APPEND, Op.PREPEND, Op.REMOVE),
    "expression": (Op.AND, Op.OR),
    "map": (Op.MERGE,),
}
SECRETS = (secret_value("s", 1), secret_value("t", 2), secret_value("gone", None))
every_kind = pytest.mark.parametrize("kind", VALUES)


def steps(kind: str) -> SearchStrategy[Step]:
    """Any one operation on a parameter of the kind."""
    value = st.sampled_from(VALUES[kind])
    operations = st.sampled_from((Op.SET, Op.DEFAULT, *COMPOSING[kind]))
    return st.one_of(
        st.builds(Step, operations, value, st.just(PLACE)),
        st.builds(Step, st.just(Op.NULL), value | st.just(NOTHING), st.just(PLACE)),
        st.just(Step(Op.UNSET, True, PLACE)),
        st.just(Step(Op.FACT, "fact", PLACE)),
        st.builds(Step, st.just(Op.SECRET), st.sampled_from(SECRETS), st.just(PLACE)),
    )


def cells(kind: str) -> SearchStrategy[Cell]:
    """Some operations, joined."""
    return st.lists(steps(kind), min_size=1, max_size=3).map(joined)


def joined(operations: list[Step]) -> Cell:
    result = make_cell(operations[0])
    for step in operations[1:]:
        result = join(result, make_cell(step))
    return result


@every_kind
@QUICK
@given(data=st.data())
def test_joining_is_associative(kind: str, data: st.DataObject) -> None:
    low, middle, high = (data.draw(cells(kind)) for _ in range(3))
    assert join(join(low, middle), high) == join(low, join(middle, high))


@every_kind
@QUICK
@given(data=st.data())
def test_composing_first_is_applying_in_order(kind: str, data: st.DataObject) -> None:
    operations = data.draw(st.lists(steps(kind), min_size=1, max_size=6))
    facts = {"fact": data.draw(st.sampled_from(VALUES[kind]))}
    below = data.draw(st.sampled_from((NOTHING, None, *VALUES[kind])))
    result = joined(operations)
    assert fold(result.steps, below, facts) == fold(operations, below, facts)
    if result.closed:
        assert fold(result.steps, NOTHING, facts) == fold(operations, below, facts)


Layer = tuple[Mapping[str, Cell], frozenset[str]]


def layers() -> SearchStrategy[Layer]:
    """What some layers say of a few parameters, with the names that are still open below."""
    return st.dictionaries(st.sampled_from("abc"), cells("list"), min_size=1).map(
        lambda cells: (cells, _open(cells))
    )


def _open(cells: Mapping[str, Cell]) -> frozenset[str]:
    return frozenset(name for name in cells if not cells[name].closed)


@QUICK
@given(st.lists(layers(), min_size=1, max_size=5), st.integers(1, 4))
def test_composing_layers_is_associative(parts: list[Layer], cut: int) -> None:
    low, high = parts[:cut], parts[cut:]
    together = compose(parts)
    halves = [compose(half) for half in (low, high) if half]
    assert compose([(half, _open(half)) for half in halves]) == together


@pytest.mark.slow
@every_kind
@DEEP
@given(data=st.data())
def test_joining_is_associative_deeply(kind: str, data: st.DataObject) -> None:
    low, middle, high = (data.draw(cells(kind)) for _ in range(3))
    assert join(join(low, middle), high) == join(low, join(middle, high))
