"""Lists as one text: split at the separator and nowhere else, and read back as they were."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.compile.values import find_unfit, join_list, split_list

SEPARATORS = st.sampled_from(["comma", "blank-or-comma"])
TEXTS = st.lists(st.sampled_from([*"ab, \t\n()[]{}\"'\\$", "$(X, Y)", '"a, b"', "\u00a0", "é"])).map("".join)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b,c", ["a", "b", "c"]),
        (" a b ,, c , ", ["a b", "c"]),
        ('"a, b", c', ['"a, b"', "c"]),
        (r'"a\", b", c', [r'"a\", b"', "c"]),
        ("'a, b', c", ["'a, b'", "c"]),
        ("f(a, [b, c], {d, e}), g", ["f(a, [b, c], {d, e})", "g"]),
        ("$(A, B), $$(C, D), $F(E, F)", ["$(A, B)", "$$(C, D)", "$F(E, F)"]),
        ('f("), "), g', ['f("), ")', "g"]),
        ("a), (b, c), d", ["a)", "(b, c)", "d"]),
        ("a\u00a0\t, \u00a0b", ["a", "b"]),
        ('a, "b, c', ["a", '"b, c']),
        ("a, (b, c", ["a", "(b, c"]),
        ("", []),
        (" ,\t, ", []),
    ],
)
def test_text_is_split_at_commas(text: str, items: list[str]) -> None:
    assert split_list(text, "comma") == items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a b, c,d", ["a", "b", "c", "d"]),
        ("  a ,\n\tb  ", ["a", "b"]),
        ('"a b" c', ['"a b"', "c"]),
        ("f(a b) c", ["f(a b)", "c"]),
        ('x="a b" c', ['x="a b"', "c"]),
        (" \n ", []),
    ],
)
def test_text_is_split_at_blanks_too(text: str, items: list[str]) -> None:
    assert split_list(text, "blank-or-comma") == items


@pytest.mark.parametrize(("text", "items"), [("a, b", ["a, b"]), (" a b ", ["a b"]), (" ", []), ("", [])])
def test_without_separator_text_is_one_item(text: str, items: list[str]) -> None:
    assert split_list(text, None) == items


def test_items_are_joined_as_people_write_them() -> None:
    assert join_list(["a", 1, 2.5], "comma") == join_list(["a", 1, 2.5], None) == "a, 1, 2.5"
    assert join_list(["a", "b"], "blank-or-comma") == "a b"
    assert join_list([], "comma") == ""


@pytest.mark.parametrize(
    ("items", "separator", "expected"),
    [
        (["a", "b c", "f(d, e)", '"g, h"'], "comma", None),
        (["a", "b c"], "blank-or-comma", "b c"),
        (["a", "b, c"], "comma", "b, c"),
        (["a", "b, c"], None, "b, c"),
        (["a", "", "b"], "comma", ""),
        (["a", ""], "comma", ""),
        (["a", " b"], "comma", " b"),
        (["f(a", "b)"], "comma", "f(a"),
        (["it's", "a"], "comma", "it's"),
        (["(a", ")", "(a"], "comma", "(a"),
        (["a", "it's"], "comma", None),
        ([], "comma", None),
    ],
)
def test_the_first_item_that_is_not_read_back_is_found(
    items: list[str], separator: str | None, expected: str | None
) -> None:
    assert find_unfit(items, separator) == expected


@given(st.lists(TEXTS), SEPARATORS)
def test_what_is_fit_is_read_back(items: list[str], separator: str) -> None:
    if find_unfit(items, separator) is None:
        assert split_list(join_list(items, separator), separator) == items
    else:
        assert split_list(join_list(items, separator), separator) != items


@given(TEXTS, SEPARATORS)
def test_the_items_of_a_text_are_fit(text: str, separator: str) -> None:
    assert find_unfit(split_list(text, separator), separator) is None


@given(TEXTS, SEPARATORS)
def test_nothing_is_lost_but_separators(text: str, separator: str) -> None:
    def kept(text: str) -> str:
        return "".join(character for character in text if not character.isspace() and character != ",")

    assert kept("".join(split_list(text, separator))) == kept(text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*",( \"'a", "a,", "(a,", "a b ", '\\"', "\"\\'", '"a, b", ', "$("])
@pytest.mark.parametrize("separator", ["comma", "blank-or-comma"])
def test_a_mebibyte_takes_no_more_than_its_length(piece: str, separator: str) -> None:
    text = piece * (2**20 // len(piece))
    began = perf_counter()
    split_list(text, separator)
    # Well below a second; were it quadratic it would be many minutes.
    assert perf_counter() - began < 15
