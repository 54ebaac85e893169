"""Types: only what every value in the dump is certain of."""

from typing import Any

import pytest

from gitcfg.convert.wallaby.repository import WallabyImport, import_wallaby
from tests.convert.dumps import declared, dump, feature, parameter, said


def imported(values: list[Any], **fields: Any) -> WallabyImport:
    features = [feature(f"F{place}", params={"P": value}) for place, value in enumerate(values)]
    return import_wallaby(dump(features, params=[parameter("P", **fields)]))


KINDS: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("appended to somewhere", ["a, b", ">= c"], {}, "list"),
    ("joined with and", ["&&= A"], {}, "expression"),
    ("joined with or", ["A", "||= B"], {}, "expression"),
    ("integers", ["1", "-20"], {"kind": "Integer", "default_val": "0"}, "integer"),
    ("integers and a macro", ["1", "$(N)"], {"kind": "Integer"}, "integer"),
    ("a default alone", [], {"kind": "Integer", "default_val": "3"}, "integer"),
    ("misspelt", ["1"], {"kind": "Interger"}, "integer"),
    ("a leading zero would be lost", ["017"], {"kind": "Integer"}, "string"),
    ("arithmetic", ["3600 * 24"], {"kind": "Integer"}, "string"),
    ("arithmetic on a macro", ["1", "2 * $(N)"], {"kind": "Integer"}, "string"),
    ("one value is no integer", ["1", "x"], {"kind": "Integer"}, "string"),
    ("one value is empty", ["1", ""], {"kind": "Integer"}, "string"),
    ("only a macro", ["$(N)"], {"kind": "Integer"}, "string"),
    ("no value at all", [0], {"kind": "Integer", "must_change": True}, "string"),
    ("asked for, and given", [0, "1"], {"kind": "Integer", "must_change": True}, "integer"),
    ("the label does not say so", ["1"], {"kind": "String"}, "string"),
    ("booleans", ["TRUE", "false"], {"kind": "Boolean"}, "boolean"),
    ("yes is none", ["yes"], {"kind": "Boolean"}, "string"),
    ("numbers", ["0.5", "2"], {"kind": "Double"}, "number"),
    ("a trailing zero would be lost", ["1.10"], {"kind": "Double"}, "string"),
    ("comparisons", ["A =?= $(B)"], {}, "expression"),
    ("truths joined", ["FALSE", "( A || B ) && !C"], {"default_val": "TRUE"}, "expression"),
    ("choices and calls", ['f(A, 1) > 2 ? "x" : $RANDOM_INTEGER(1,2)'], {}, "expression"),
    ("attributes and lists", ["x is undefined || member(MY.y, {1, 2})"], {}, "expression"),
    ("a number that is an expression", ["0", "A == 1"], {"kind": "Double"}, "expression"),
    ("arithmetic alone may be text", ["(A - B)"], {}, "string"),
    ("a label that says it", ["(A - B)"], {"kind": "Expression"}, "expression"),
    ("a path", ["$(LOG)/x"], {}, "string"),
    ("a command line", ["-f -p $(PORT)"], {}, "string"),
    ("settings", ["cpus=100%,disk=100%"], {}, "string"),
    ("a record", ["[ A = 1; B = (C == 2); ]"], {}, "string"),
    ("operators in quotes", ['"a == b"'], {}, "string"),
    ("a quote that does not close", ['A == "b'], {}, "string"),
    ("brackets that do not match", ["(A == [1)]"], {}, "string"),
    ("an operator too many", ["A == == B"], {}, "string"),
    ("an operand too many", ["A == B C"], {}, "string"),
    ("it ends early", ["A &&"], {}, "string"),
    ("endless", ["A == " + "1 + " * 10_000 + "1"], {}, "string"),
]


@pytest.mark.parametrize(("about", "values", "fields", "kind"), KINDS, ids=[case[0] for case in KINDS])
def test_the_values_decide(about: str, values: list[Any], fields: dict[str, Any], kind: str) -> None:
    assert declared(imported(values, **fields))["P"]["type"] == kind


NOTES: list[tuple[str, list[Any], dict[str, Any], list[str]]] = [
    ("a label that the values contradict", ["x"], {"kind": "Integer"}, ["changed parameter P kind"]),
    ("a label that an empty value contradicts", [""], {"kind": "Integer"}, ["changed parameter P kind"]),
    ("an unknown label", ["x"], {"kind": "Color"}, ["look parameter P kind"]),
    ("one expression that is broken", ["A == 1", "A) == 2"], {}, ["look parameter P type"]),
    ("words without commas", [">= A B"], {}, ["look parameter P type"]),
    ("both kinds of operation", [">= A", "&&= B"], {}, ["look parameter P type"]),
    ("or, then and", ["A || B", "&&= C"], {}, ["changed parameter P params"]),
    ("and, then or", ["A && B", "||= C"], {}, []),
    ("a choice", ["||= A ? B : C"], {}, ["changed parameter P params"]),
    ("a choice in brackets", ["||= (A ? B : C)"], {}, []),
    (
        "a default that looks like an operation",
        ["v"],
        {"default_val": ">= x"},
        ["look parameter P default_val"],
    ),
    (
        "a default of what must be changed",
        ["v"],
        {"must_change": True, "default_val": "d"},
        ["dropped parameter P default_val"],
    ),
    ("a level beyond ours", ["v"], {"level": 3}, ["changed parameter P level"]),
    ("nothing odd", ["v", "w"], {"default_val": "d", "level": 2}, []),
]


@pytest.mark.parametrize(("about", "values", "fields", "notes"), NOTES, ids=[case[0] for case in NOTES])
def test_what_is_odd_is_noted(
    about: str, values: list[Any], fields: dict[str, Any], notes: list[str]
) -> None:
    assert said(imported(values, **fields)) == notes


def test_a_declaration_carries_everything() -> None:
    fields = {
        "annotation": "More of it.",
        "kind": "Integer",
        "default_val": "5",
        "level": 1,
        "needs_restart": True,
        "depends": ["q"],
        "conflicts": ["R", "R"],
    }
    result = import_wallaby(dump(params=[parameter("P", **fields), parameter("Q"), parameter("R")]))
    assert declared(result)["P"] == {
        "description": "It is.\n\nMore of it.",
        "type": "integer",
        "macros": "condor",
        "default": 5,
        "restart": True,
        "depends": ["Q"],
        "conflicts": ["R"],
        "level": 1,
    }
    assert said(result) == ["dropped parameter P conflicts"]


def test_what_must_be_changed_has_no_default() -> None:
    result = declared(imported([0], must_change=True, default_val="d"))
    assert result["P"] == {
        "description": "It is.",
        "type": "string",
        "macros": "condor",
        "must_change": True,
    }


def test_many_parameters_are_split_by_their_first_word() -> None:
    names = [f"{word}_{letter}" for word in ("STARTD", "SCHEDD", "MAX") for letter in "ABCDEFGHIJKLMNOPQRSTU"]
    result = import_wallaby(dump(params=[parameter(name) for name in [*names, "LOG", "9"]]))
    files = [path for path in result.files if path.startswith("parameters/")]
    assert files == [f"parameters/{word}.yaml" for word in ("max", "other", "schedd", "startd")]
    assert len(declared(result)) == len(names) + 1
