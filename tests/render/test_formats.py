"""What each format writes, and what it says it cannot."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.render.formats import Unfit, formats, is_simple

FLAT = ["condor", "env", "ini"]
NESTING = ["json", "yaml", "toml"]
VALUES = {
    "b.text": "a b",
    "b.flag": True,
    "a": 5,
    "b.list": ["x", 1, False],
    "c.d.half": 0.5,
    "empty": "",
    "bare": None,
    "c.none": [],
}
SEPARATORS = {"b.list": "comma"}


def codes(format: str, values: dict[str, Any], separator: str | None = "comma") -> list[tuple[str, ...]]:
    found = formats()[format].unfit(values, dict.fromkeys(values, separator))
    return [(unfit.code, *unfit.subjects) for unfit in found]


def only(format: str, values: dict[str, Any], separator: str | None = "comma") -> Unfit:
    (found,) = formats()[format].unfit(values, dict.fromkeys(values, separator))
    return found


def test_there_are_six() -> None:
    assert sorted(formats()) == sorted(FLAT + NESTING)
    assert {name: format.name for name, format in formats().items()} == {name: name for name in formats()}


@given(st.one_of(st.text(), st.text(st.sampled_from(" \t\n\r\0\\'\"#a,{}")), st.integers(), st.booleans()))
def test_every_format_carries_a_simple_value(value: str | int) -> None:
    if is_simple(value):
        assert not [format for format in formats() if codes(format, {"a": value})]


def test_usual_values_are_simple() -> None:
    assert all(map(is_simple, ("a b", "", "$(A) == 'é'", 5, -1, True)))
    assert not any(map(is_simple, (" a", "a\n", "a\\", 1 << 60, 0.5, None, [], {})))


def test_condor() -> None:
    assert formats()["condor"].write(VALUES, SEPARATORS) == (
        "a = 5\nb.flag = TRUE\nb.list = x, 1, FALSE\nb.text = a b\nc.d.half = 0.5\nc.none =\nempty =\n"
    )


def test_env() -> None:
    values = {
        "B": 'a "$b" `c` \\d',
        "A": True,
        "C": ["x", "y z"],
        "D": "plain/a.b:c@d%e+f,g-h_i",
        "E": "",
        "F": "é",
    }
    assert formats()["env"].write(values, {"C": "comma"}) == (
        'A=true\nB="a \\"\\$b\\" \\`c\\` \\\\d"\nC="x, y z"\nD=plain/a.b:c@d%e+f,g-h_i\nE=\nF="é"\n'
    )


def test_ini() -> None:
    assert formats()["ini"].write(VALUES, SEPARATORS) == (
        "a = 5\nempty =\n\n[b]\nflag = true\nlist = x, 1, false\ntext = a b\n"
        "\n[c]\nnone =\n\n[c.d]\nhalf = 0.5\n"
    )


def test_json() -> None:
    assert formats()["json"].write({"b.y": 1, "a": [None], "b.x": {"z": 1, "y": "é"}}, {}) == (
        '{\n  "a": [\n    null\n  ],\n'
        '  "b": {\n    "x": {\n      "y": "é",\n      "z": 1\n    },\n    "y": 1\n  }\n}\n'
    )


def test_yaml() -> None:
    values = {"b.w": "no", "a": ["x", 1], "b.u": {"z": None, "v": True}}
    written = formats()["yaml"].write(values, {})
    assert written == "a:\n- x\n- 1\nb:\n  u:\n    v: true\n    z: null\n  w: 'no'\n"


def test_toml() -> None:
    values = {"b.y": "x", "a": 1, "b.x": {"z": True, "y": 0.5}, "c": [{"k": 1}, {"k": 2, "m": {"n": []}}]}
    assert formats()["toml"].write(values, {}) == (
        'a = 1\n\n[b]\ny = "x"\n\n[b.x]\ny = 0.5\nz = true\n\n[[c]]\nk = 1\n\n[[c]]\nk = 2\n\n[c.m]\nn = []\n'
    )


@pytest.mark.parametrize(
    ("format", "text"), [*((name, "") for name in FLAT), ("toml", ""), ("json", "{}\n"), ("yaml", "{}\n")]
)
def test_nothing(format: str, text: str) -> None:
    assert formats()[format].write({}, {}) == formats()[format].write({"bare": None}, {}) == text
    assert codes(format, {"bare": None}) == []


@pytest.mark.parametrize("format", sorted(formats()))
def test_equal_values_are_equal_text(format: str) -> None:
    one = {"a": [1, 2], "b.y": 1, "b.x": "t", "m": {"k": {"v": 1, "u": 2}, "j": 3}}
    other = {"m": {"j": 3, "k": {"u": 2, "v": 1}}, "b.x": "t", "b.y": 1, "a": [1, 2]}
    if format in FLAT:
        del one["m"], other["m"]
    assert formats()[format].write(one, {}) == formats()[format].write(other, {})


def test_a_list_is_joined_by_its_separator() -> None:
    values = {"A": ["x", "y"], "B": ["x", "y"], "C": ["x", "y"]}
    separators = {"A": "comma", "B": "blank-or-comma"}
    assert formats()["condor"].write(values, separators) == "A = x, y\nB = x y\nC = x, y\n"
    assert formats()["env"].write(values, separators) == 'A="x, y"\nB="x y"\nC="x, y"\n'
    assert formats()["ini"].write(values, separators) == "A = x, y\nB = x y\nC = x, y\n"


@pytest.mark.parametrize("format", FLAT)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a\nb", "line break"),
        ("a\n", "line break"),
        ("a\rb", "carriage return"),
        ("a\0b", "NUL"),
        ("a\\", "backslash"),
        ({"k": "v"}, "map"),
        ({}, "map"),
        (float("inf"), "finite"),
        (["a", float("nan")], "finite"),
        (["a", ["b"]], "plain value"),
        (["a", {"b": 1}], "plain value"),
        (["a", None], "plain value"),
        (["a", "b, c"], "'b, c'"),
        (["a", ""], "''"),
        (["a", " b"], "' b'"),
        (["f(a", "b)"], "'f(a'"),
        (["a", "b\nc"], "line break"),
        (["a", "b\\"], "backslash"),
        (["x, " * 50], "..."),
    ],
)
def test_what_one_line_cannot_carry(format: str, value: Any, words: str) -> None:
    found = only(format, {"A": value})
    assert (found.code, found.subjects) == ("GC309", ("A",))
    assert words in found.reason
    assert found.reason.startswith("A ")


@pytest.mark.parametrize("format", FLAT)
@pytest.mark.parametrize(
    "value",
    [
        "",
        "a\\b",
        "#a",
        "=",
        '"',
        "it's",
        "$(X) && $$(Y)",
        ["a b", 1, True, "f(x, y)"],
        [],
        0,
        1e300,
        "é\u2028x",
    ],
)
def test_what_one_line_can(format: str, value: Any) -> None:
    assert codes(format, {"A": value}) == []


def test_an_item_with_a_blank_is_two_where_blanks_separate() -> None:
    assert codes("condor", {"A": ["a b"]}, "comma") == []
    assert codes("condor", {"A": ["a b"]}, "blank-or-comma") == [("GC309", "A")]
    assert codes("condor", {"A": ["a, b"]}, None) == [("GC309", "A")]


@pytest.mark.parametrize("value", [" a", "a ", "\ta", "a\v"])
def test_blanks_at_the_ends_are_lost_but_in_quotes(value: str) -> None:
    assert codes("condor", {"A": value}) == codes("ini", {"A": value}) == [("GC309", "A")]
    assert codes("env", {"A": value}) == []


@pytest.mark.parametrize(
    "name", ["if", "ELIF", "Else", "endif", "use", "Include", "error", "WARNING", "A-B", "é", "1A", "A\n"]
)
def test_no_name_in_condor(name: str) -> None:
    assert codes("condor", {name: "x"}) == [("GC309", name)]


def test_condor_knows_no_case() -> None:
    found = only("condor", {"Start": 1, "START": 1, "STARTD": 1})
    assert (found.code, found.subjects) == ("GC309", ("Start",))
    assert "START" in found.reason


@pytest.mark.parametrize("name", ["A.B", "A-B", "1A", "é", "A\n", "_", "UID", "OPTIND"])
def test_no_name_in_env(name: str) -> None:
    assert codes("env", {name: "x"}) == [("GC309", name)]


@pytest.mark.parametrize("name", [".a", "a.", ".", "DEFAULT.a", "a b", "a]b.c", "é", "a\n", "#a", "a=b"])
def test_no_name_in_ini(name: str) -> None:
    assert codes("ini", {name: "x"}) == [("GC309", name)]


@pytest.mark.parametrize("format", NESTING)
@pytest.mark.parametrize("name", ["a..b", ".a", "a.", "."])
def test_no_name_where_names_nest(format: str, name: str) -> None:
    assert codes(format, {name: "x"}) == [("GC309", name)]


@pytest.mark.parametrize("format", NESTING)
def test_names_within_names(format: str) -> None:
    values: dict[str, Any] = {"a": {"x": 1}, "a.b": 2, "a.b.c": 3, "ab": 4, "a-b.c": 5, "d": None, "d.e": 6}
    pairs = [("a", "a.b"), ("a", "a.b.c"), ("a.b", "a.b.c")]
    assert codes(format, values) == [("GC310", *pair) for pair in pairs]
    formats()[format].write(values, {})
    assert values["a"] == {"x": 1}


@pytest.mark.parametrize("format", NESTING)
def test_names_are_no_deeper_than_yaml(format: str) -> None:
    assert codes(format, {".".join("a" * 64): 1}) == []
    deep = {".".join("a" * 100_000): 1}
    assert [code for code, _ in codes(format, deep)] == ["GC309"]
    assert formats()[format].write(deep, {}) == formats()[format].write({}, {})


@pytest.mark.parametrize("format", NESTING)
@pytest.mark.parametrize("value", [float("nan"), [1, [float("inf")]], {"k": {"l": -float("inf")}}])
def test_no_number_where_names_nest(format: str, value: Any) -> None:
    assert codes(format, {"a": value}) == [("GC309", "a")]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, [None], {"a": None}, {"a": [{"b": None}, None]}])
def test_what_toml_alone_cannot_carry(value: Any) -> None:
    assert codes("toml", {"a": value}) == [("GC309", "a")]
    assert codes("json", {"a": value}) == codes("yaml", {"a": value}) == []


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), True, [1, "a", {"b": [2.5]}], {"": {}}, "\0\x7f\r\n"])
def test_what_all_that_nest_can(value: Any) -> None:
    assert [codes(format, {"a": value}) for format in NESTING] == [[], [], []]
