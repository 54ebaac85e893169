"""What gitcfg finds wrong with ClassAd expressions, held against HTCondor's own parser."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitcfg.compile.classad import LONGEST, find_fault
from tests.parsers.oracle import needs_htcondor

WRONG = {
    "Owner == == 3": "two operators in a row, `==` and `==`",
    "TARGET.X >": "it ends with the operator `>`",
    "onwer == eve &&": "it ends with the operator `&&`",
    'Owner = "x"': "`=` is used for `==`",
    "24 hours": "two operands in a row, `24` and `hours`",
    "a and b": "two operands in a row, `a` and `and`",
    "&& a": "it begins with the operator `&&`",
    "a * * b": "two operators in a row, `*` and `*`",
    "a is is b": "two operators in a row, `is` and `is`",
    "a ! b": "an operator is missing before `!`",
    "(a == 1": "`(` is not closed",
    "{a": "`{` is not closed",
    "a)": "`)` has no opening bracket",
    "(a]": "`]` has no opening bracket",
    '"a': "a quote is not closed",
    "() && a": "nothing is between `(` and `)`",
    "(a &&) b": "the part in brackets ends with the operator `&&`",
    "f(a,)": "the part in brackets ends with the operator `,`",
    "{1 2}": "two operands in a row, `1` and `2`",
    "{,1}": "`,` has no operand before it",
    "(a)(b)": "two operands in a row, `)` and `(`",
    "a, b": "a comma is outside of a list",
    "a ? b": "`?` has no `:` after it",
    "a : b": "`:` has no `?` before it",
    "a @ b": "`@` has no meaning here",
    "a é": "`é` has no meaning here",
    "[1 = 2]": "`1` is not an attribute name",
    "[a 1]": "`=` is missing before `1`",
    "(a;)": "`;` is outside of a record",
    "a =< b": "`=` is used for `==`",
    "$(X": "the bracket of a macro is not closed",
    "$X": "`$` has no meaning here",
}
RIGHT = [
    "",
    "  ",
    "TRUE",
    "ifThenElse(isUndefined(a), 1, b)",
    "a ? b : c ? d : e",
    "a ?: b",
    "a ? : b",
    "a =?= b =!= c",
    "a is undefined || b ISNT error",
    r'"a \" b" == x',
    r'regexp("^\d+\.", x)',
    '"a" "b"',
    "{1, 2, {3}}",
    "{}",
    "[]",
    "[a = 1; b = {2}; ]",
    "[ a = [ b = 1 ] ].a.b",
    "a.b.c + a . b",
    "a[0].b[1]",
    "-a - -1",
    "!!a && ~b",
    "a << 2 | b >>> 3 ^ c & d % 4",
    "1.5e-3 + .5 + 3.4e+38",
    "a /* b c */ + 1",
    "'a b' == 1",
    "my.'a b'",
    "time() - 10",
]
MACROS = [
    "$(X)",
    "a && $(X)",
    "$(X) a",
    "a $(X) b",
    "$(A) $(B)",
    "a == $(X) == 3",
    "$$(X) == 1",
    "$$([a = 1])",
    "$INT(X) + $RANDOM_CHOICE(1, 2)",
    "$(X:a == b) && c",
    "f($(X))",
    "f(a $(X))",
    "{$(X)}",
    "[$(X)]",
    "[a = $(X); b = 2]",
    "$(X)[a = 1]",
    "a ? b $(X)",
    "$(X) : c",
    "a ? (b $(X)) : c",
    "($(X)) && b",
    '"$(X)"',
    "24 $(UNIT)",
]
UNSURE = ["$(X) == == 3", "a == == $(X)", "(a $(X)", "$(X) a)", '"$(X)" b', "a = $(X)", "$(X) &&"]


@pytest.mark.parametrize(("text", "reason"), WRONG.items())
def test_what_is_wrong_is_said(text: str, reason: str) -> None:
    fault = find_fault(text)
    assert fault is not None
    assert (fault.reason, fault.sure) == (reason, True)


@pytest.mark.parametrize("text", [*RIGHT, *MACROS])
def test_what_is_right_is_silent(text: str) -> None:
    assert find_fault(text) is None


@pytest.mark.parametrize("text", UNSURE)
def test_beside_a_macro_nothing_is_sure(text: str) -> None:
    fault = find_fault(text)
    assert fault is not None
    assert not fault.sure


def test_far_from_a_macro_it_is() -> None:
    for text in ("$(X) && Owner == == 3", "a = 3 && b == $(X)"):
        fault = find_fault(text)
        assert fault is not None
        assert fault.sure


def test_it_says_what_to_write() -> None:
    for text, hint in {"a and b": "Write && for and.", "not a": "Write ! for not."}.items():
        fault = find_fault(text)
        assert fault is not None
        assert fault.hint == hint


def test_what_nobody_writes_is_read_in_no_time() -> None:
    for text in ("(" * LONGEST, '"a' * (LONGEST // 2), "$(" * (LONGEST // 2), "a == " * (LONGEST // 5)):
        assert find_fault(text)
    assert find_fault("a " * LONGEST) is None


_PIECES = r"""
a Owner TARGET.x my. .b 1 1.5 3e-2 10K "s" 's' "a\"b" "\0" true undefined is isnt and && || == != =?= =!= = <
<= > >= + - * / % & | ^ ! ~ << >>> ? : ?: , ; ( ) [ ] { } f( ifThenElse( [a= // /* */ @ $ # \ "
"""
PIECES = st.sampled_from(_PIECES.split())
SPACES = st.sampled_from(["", " ", " ", "  "])


@st.composite
def mutated(draw: Any) -> str:
    """A right expression with a few pieces more, fewer, or others."""
    tokens = draw(st.sampled_from([text for text in RIGHT if text.strip()])).split(" ")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens)))
        tokens[at : at + draw(st.integers(0, 2))] = draw(st.lists(PIECES, max_size=2))
    return " ".join(tokens)


@st.composite
def strung(draw: Any) -> str:
    """Pieces in a row."""
    return "".join(piece + draw(SPACES) for piece in draw(st.lists(PIECES, max_size=9)))


def parses(text: str) -> bool:
    from gitcfg.parsers.child import condor

    return condor.parses(text)


@pytest.mark.slow
@needs_htcondor
@settings(max_examples=1500, deadline=None)
@example("a]")
@example("a;")
@example("a;;")
@example('"a\\"')
@given(st.one_of(mutated(), strung(), st.text("ab1. \"'=&!?:;,()[]{}<>+-", max_size=12)))
def test_what_is_refused_htcondor_refuses_as_well(text: str) -> None:
    fault = find_fault(text)
    if fault is not None and "$(" not in text:
        assert fault.sure
        assert not parses(text)


@needs_htcondor
@pytest.mark.parametrize("text", [text for text in RIGHT if text.strip()])
def test_what_is_right_htcondor_takes(text: str) -> None:
    assert parses(text)
