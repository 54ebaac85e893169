"""Wallaby's markers, its "use the default" and its empty values as operations."""

from typing import Any

import pytest

from gitcfg.convert.wallaby.repository import import_wallaby
from tests.convert.dumps import bound, declared, dump, feature, group, parameter, read, said

BINDINGS: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("a value", {}, "x", "x"),
    ("text that YAML would take for a number", {}, "017", "017"),
    ("the string 0 is a value", {"default_val": "7"}, "0", "0"),
    ("the integer 0 is the default", {"default_val": "7"}, 0, None),
    ("an empty default is an empty value", {}, 0, {"$default": ""}),
    ("a value that somebody has to give", {"must_change": True}, 0, None),
    ("an empty value", {}, "", {"$default": ""}),
    ("an empty value of what must be changed asks for one", {"must_change": True}, "", None),
    ("append", {}, ">= A", {"$append": "A"}),
    ("blanks after the marker are free", {}, ">=A", {"$append": "A"}),
    ("blanks on both sides", {}, ">=   A  ", {"$append": "A"}),
    ("a marker that is repeated", {}, ">= >= A", {"$append": "A"}),
    ("several items", {}, ">= A,B , $(C)", {"$append": ["A", "B", "$(C)"]}),
    ("quoted items", {}, '>= "$(A)", B', {"$append": ['"$(A)"', "B"]}),
    ("items that only the separator can tell", {}, '>= f(a, b), "c, d"', {"$append": 'f(a, b), "c, d"'}),
    ("a call stays whole", {}, ">= f(a,b)", {"$append": "f(a,b)"}),
    ("blanks do not separate", {}, ">= HAD REPLICATION", {"$append": "HAD REPLICATION"}),
    ("and", {}, "&&= A == 1", {"$and": "A == 1"}),
    ("or", {}, "||=A", {"$or": "A"}),
    ("default", {}, "?= v", {"$default": "v"}),
    ("a marker with nothing behind it", {}, ">= ", {"$default": ""}),
    ("a marker counts only at the beginning", {}, "A >= B", "A >= B"),
    ("blanks before it make it plain text", {}, " >= B", " >= B"),
    ("an integer", {"kind": "Integer"}, "15", 15),
    ("a negative one", {"kind": "Interger"}, "-1", -1),
    ("a boolean", {"kind": "Boolean"}, "True", True),
    ("a number", {"kind": "Double"}, "0.5", 0.5),
    ("a line break", {}, "a\nb", "a\nb"),
]


@pytest.mark.parametrize(("about", "fields", "given", "expected"), BINDINGS, ids=[b[0] for b in BINDINGS])
def test_a_value_becomes_a_binding(about: str, fields: dict[str, Any], given: Any, expected: Any) -> None:
    [params] = bound({"P": given}, declarations=[parameter("P", **fields)])
    assert params == {"P": expected}
    assert type(params["P"]) is type(expected)


@pytest.mark.parametrize("zero", ["0", "00", "+0", "0x0"])
def test_only_a_plain_zero_is_the_integer(zero: str) -> None:
    declaration = parameter("P", default_val="7")
    data = dump([feature("F", params={"P": "@"})], params=[declaration])
    plain = import_wallaby(data.replace(b'"@"', zero.encode()))
    quoted = import_wallaby(data.replace(b"@", zero.encode()))
    assert read(plain)["features/F.yaml"]["params"] == {"P": None}
    assert read(quoted)["features/F.yaml"]["params"] == {"P": zero}


@pytest.mark.parametrize(("plain", "text"), [("5", "5"), ("1.50", "1.50"), ("true", "true"), ("yes", "yes")])
def test_values_are_text_however_yaml_reads_them(plain: str, text: str) -> None:
    data = dump([feature("F", params={"P": "@"})]).replace(b'"@"', plain.encode())
    assert read(import_wallaby(data))["features/F.yaml"]["params"] == {"P": text}


def test_an_empty_value_below_an_operation_is_bare() -> None:
    features = [feature("A", params={"P": ""}), feature("B", params={"P": "?= v"})]
    imported = import_wallaby(dump(features, params=[parameter("P")]))
    assert read(imported)["features/A.yaml"]["params"] == {"P": None}
    assert said(imported, "feature") == ["changed feature A params.P"]


def test_an_empty_value_that_would_hide_the_default_is_left_out() -> None:
    features = [feature("A", params={"P": "", "Q": "q"}), feature("B", params={"P": "&&= v"})]
    imported = import_wallaby(dump(features, params=[parameter("P", default_val="d"), parameter("Q")]))
    assert read(imported)["features/A.yaml"]["params"] == {"Q": "q"}
    assert said(imported, "feature") == ["dropped feature A params.P"]


def test_the_declared_case_wins() -> None:
    features = [feature("A", params={"start": "1"}), feature("B", params={"Start": "2"})]
    imported = import_wallaby(dump(features, params=[parameter("START")]))
    files = read(imported)
    assert files["features/A.yaml"]["params"] == {"START": "1"}
    assert files["features/B.yaml"]["params"] == {"START": "2"}
    assert imported.notes == ()


def test_a_name_set_twice_in_one_layer_is_noted() -> None:
    imported = import_wallaby(dump([feature("A", params={"P": "1", "p": "2"})], params=[parameter("P")]))
    assert read(imported)["features/A.yaml"]["params"] == {"P": "1"}
    assert said(imported) == ["dropped feature A params.p"]


def test_a_name_that_is_not_legal_is_noted_wherever_it_stands() -> None:
    imported = import_wallaby(
        dump(
            [feature("A", params={"a/b": "1"})],
            params=[parameter("a/b"), parameter("P", depends=["A/B"])],
            subsystems=[{"name": "s", "params": ["a/b", "P"]}],
        )
    )
    assert read(imported)["features/A.yaml"] == {}
    assert said(imported) == [
        "dropped feature A params.a/b",
        "dropped parameter P depends",
        "dropped parameter a/b",
        "dropped subsystem s params",
        "look subsystem",
    ]


def test_what_is_set_but_not_declared_is_declared() -> None:
    groups = [group("+++DEFAULT", params={"new": ">= x"})]
    imported = import_wallaby(dump([feature("A", params={"NEW": "1"})], groups))
    assert declared(imported) == {"NEW": {"type": "list", "separator": "comma", "macros": "condor"}}
    assert read(imported)["groups/default.yaml"]["params"] == {"NEW": {"$append": "x"}}
    assert said(imported) == ["changed parameter NEW"]


def test_a_line_break_is_noted() -> None:
    imported = import_wallaby(dump([feature("A", params={"P": "a\nb"})], params=[parameter("P")]))
    assert said(imported) == ["look feature A params.P"]
