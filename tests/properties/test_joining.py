"""`$and` and `$or` put parentheses exactly where the naive reading of the contract does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from gitcfg.compile.classad import join_operands
from tests.properties.runs import DEEP, QUICK
from tests.reference import joining

_ATOMS = st.sampled_from(
    ("a", "TARGET.Memory", "1.5", '"p || q"', "'it && is'", r'"\" || "', "$(START)", "f()")
)


def _larger(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    signs = st.sampled_from((" && ", "||", " == ", " =?= ", " < ", " + ", " | "))
    return st.one_of(
        st.builds("{}{}{}".format, inner, signs, inner),
        st.builds("({})".format, inner),
        st.builds("f({}, {})".format, inner, inner),
        st.builds("!{}".format, inner),
        st.builds("{} ? {} : {}".format, inner, inner, inner),
        st.builds("x[{}]".format, inner),
        st.builds("{{{}}}".format, inner),
    )


EXPRESSIONS = st.recursive(_ATOMS, _larger, max_leaves=6)
SIGNS = st.sampled_from(("&&", "||"))


@QUICK
@given(SIGNS, EXPRESSIONS, EXPRESSIONS)
def test_joined_as_the_naive_evaluator_does(sign: str, below: str, above: str) -> None:
    assert join_operands(sign, below, above) == joining.join(below, above, sign)


@QUICK
@given(SIGNS, EXPRESSIONS, EXPRESSIONS, EXPRESSIONS)
def test_joining_is_associative(sign: str, low: str, middle: str, high: str) -> None:
    assert join_operands(sign, join_operands(sign, low, middle), high) == join_operands(
        sign, low, join_operands(sign, middle, high)
    )


@pytest.mark.slow
@DEEP
@given(SIGNS, EXPRESSIONS, EXPRESSIONS)
def test_joined_as_the_naive_evaluator_does_deeply(sign: str, below: str, above: str) -> None:
    assert join_operands(sign, below, above) == joining.join(below, above, sign)
