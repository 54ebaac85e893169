"""Operands that are joined keep their meaning, however they are written."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.compile.classad import as_operand, find_unbalanced, join_operands

NAMES = "ABC"
OPERATORS = st.sampled_from(["&&", "||"])
_TOKEN = re.compile(r"\s*(&&|\|\||==|=\?=|[!()?:]|\w+)")
# How tightly each operator binds; what is not here ends an operand.
_LEVELS: Mapping[str, int] = {"||": 1, "&&": 2, "==": 3, "=?=": 3}


class Reader:
    """Evaluates names, !, ==, &&, ||, ?: and parentheses by their precedence in ClassAds."""

    def __init__(self, text: str, values: Mapping[str, bool]) -> None:
        self.tokens: Iterator[str] = iter([*_TOKEN.findall(text), "end"])
        self.values = values
        self.next = next(self.tokens)

    def take(self) -> str:
        taken, self.next = self.next, next(self.tokens, "end")
        return taken

    def whole(self) -> bool:
        condition = self.binary(1)
        if self.next != "?":
            return condition
        self.take()
        yes = self.whole()
        assert self.take() == ":"
        no = self.whole()
        return yes if condition else no

    def binary(self, level: int) -> bool:
        value = self.unary()
        while _LEVELS.get(self.next, 0) >= level:
            operator = self.take()
            other = self.binary(_LEVELS[operator] + 1)
            value = {"||": value or other, "&&": value and other}.get(operator, value == other)
        return value

    def unary(self) -> bool:
        token = self.take()
        if token == "!":
            return not self.unary()
        if token == "(":
            value = self.whole()
            assert self.take() == ")"
            return value
        if self.next == "(":  # f(x) is the opposite of x
            return not self.unary()
        return self.values[token]


def meaning(text: str) -> tuple[bool, ...]:
    """What an expression is for all values of its names."""
    found = []
    for values in product((False, True), repeat=len(NAMES)):
        reader = Reader(text, dict(zip(NAMES, values, strict=True)))
        found.append(reader.whole())
        assert reader.next == "end", text
    return tuple(found)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.builds(
        "{0}{3}{1}{3}{2}".format, inner, st.sampled_from(list(_LEVELS)), inner, st.sampled_from(["", " "])
    )
    return st.one_of(
        binary,
        inner.map("!{}".format),
        inner.map("({})".format),
        inner.map("( {} )".format),
        inner.map("f({})".format),
        st.builds("{} ? {} : {}".format, inner, inner, inner),
    )


EXPRESSIONS = st.recursive(st.sampled_from(list(NAMES)), _larger, max_leaves=8)
# Any pieces at all, closed or not.
PIECES = st.lists(
    st.sampled_from([*"ABf ()[]{}?:!,.;=$\"'\\1", "&&", "||", "=?=", "$(", "//", "/*", "*/", "\n"])
)


@given(EXPRESSIONS, OPERATORS, EXPRESSIONS)
def test_both_operands_keep_their_meaning(below: str, operator: str, above: str) -> None:
    found = meaning(join_operands(operator, below, above))
    pairs = zip(meaning(below), meaning(above), strict=True)
    assert found == tuple((a and b) if operator == "&&" else (a or b) for a, b in pairs)


@given(EXPRESSIONS, OPERATORS, EXPRESSIONS, EXPRESSIONS)
def test_it_does_not_matter_which_two_are_joined_first(a: str, operator: str, b: str, c: str) -> None:
    assert join_operands(operator, join_operands(operator, a, b), c) == join_operands(
        operator, a, join_operands(operator, b, c)
    )


@given(PIECES, PIECES, PIECES, OPERATORS)
def test_nor_with_any_operands_that_close(a: list[str], b: list[str], c: list[str], operator: str) -> None:
    first, second, third = ("".join(pieces) for pieces in (a, b, c))
    if find_unbalanced(first) is find_unbalanced(second) is find_unbalanced(third) is None:
        left = join_operands(operator, join_operands(operator, first, second), third)
        assert left == join_operands(operator, first, join_operands(operator, second, third))
        assert find_unbalanced(left) is None


@given(PIECES, OPERATORS)
def test_an_operand_holds_its_text_and_stays_as_it_is(pieces: list[str], operator: str) -> None:
    text = "".join(pieces)
    once = as_operand(text, operator)
    assert once in (text, f"({text})")
    assert find_unbalanced(text) is not None or as_operand(once, operator) == once


ONE_THING = r"""
TRUE | MY.Rank | .Rank | 10 | 1.10 | 1.5e-3 | "a && b" | "a\" != b" | 'odd && name' | "(" | {comment} A
f(x) | f (a && b, c) | f("(") | f($(X)) | (A && B) | ((A) && (B)) | ( A ? B : C )
"""
MORE_THAN_ONE = """
A == 1 | !A | -1 | $(X) | $$(X) | $F(X) | $(X)1 | X$(Y) | A ? B : C | A ?: B | (A)(B) | {1, 2} | [a = 1]
f(x) == 1 | (A) == (B) | (A) ? (B) : (C) | A && B ? C : D | A && B ?: C | A & B | A is B | A, B && C | é
"""


def listed(texts: str) -> list[str]:
    return [text.strip() for text in re.split(r"[|\n]", texts.strip())]


@pytest.mark.parametrize("text", listed(ONE_THING.replace("{comment}", "/* && */")))
def test_one_thing_is_bare(text: str) -> None:
    assert as_operand(text, "&&") == as_operand(text, "||") == text


@pytest.mark.parametrize("text", listed(MORE_THAN_ONE))
def test_more_than_one_thing_is_not(text: str) -> None:
    assert as_operand(text, "&&") == as_operand(text, "||") == f"({text})"


@pytest.mark.parametrize(
    "text", ["A && B", "A == 1 && B", "A =?= B && !C", "$(X)&&(A || B)", '"||" == A && f(x || y)']
)
def test_a_chain_of_and_is_bare_in_and(text: str) -> None:
    assert as_operand(text, "&&") == text
    assert as_operand(text, "||") == f"({text})"


@pytest.mark.parametrize("text", ["A || B", "A || B && C", "A == 1 || B", "A || (B ? C : D)", "(A) || (B)"])
def test_a_chain_of_or_is_bare_in_or(text: str) -> None:
    assert as_operand(text, "||") == text
    assert as_operand(text, "&&") == f"({text})"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('"a', "a quote is not closed"),
        (r'"a\"', "a quote is not closed"),
        ('"a\\', "a quote is not closed"),
        ("isn't", "a quote is not closed"),
        ("(A || B", "( is not closed"),
        ("$(A", "( is not closed"),
        ("[(A)", "[ is not closed"),
        ("A) || (B", ") closes nothing"),
        ("(A]", "] closes nothing"),
        ("A // why", "the comment that begins with // has no end"),
        ("A /* why", "a comment is not closed"),
        ("A /*/", "a comment is not closed"),
    ],
)
def test_what_does_not_close_is_named_and_in_parentheses(text: str, reason: str) -> None:
    assert find_unbalanced(text) == reason
    assert as_operand(text, "&&") == f"({text})"


@pytest.mark.parametrize(
    "text", ["", "A", '"("', "'('", '"//"', "A /* ( */", "A // (\n && B", r'"\\"', "f([{(1)}])"]
)
def test_what_closes_has_no_reason(text: str) -> None:
    assert find_unbalanced(text) is None


ENDLESS = [*"([)$\"'a1 ", "$(", "f(", '\\"', "\"\\'", "/*", "*/", "//", "1e", "1.", "=?=", "a && "]


@pytest.mark.slow
@pytest.mark.parametrize("piece", ENDLESS)
def test_a_mebibyte_takes_no_more_than_its_length(piece: str) -> None:
    text = piece * (2**20 // len(piece))
    began = perf_counter()
    as_operand(text, "&&")
    # About half a second on a slow machine; were it quadratic it would be many minutes.
    assert perf_counter() - began < 15


def test_a_hundred_thousand_brackets_are_no_hurdle() -> None:
    deep = "(" * 100_000 + "A" + ")" * 100_000
    assert join_operands("&&", deep, f"!{deep}") == f"{deep} && (!{deep})"
