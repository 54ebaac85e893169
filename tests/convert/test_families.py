"""Numbered parameters become a pattern only where nothing speaks against it."""

from typing import Any

import pytest

from gitcfg.convert.wallaby.repository import import_wallaby
from tests.convert.dumps import declared, dump, feature, parameter, read, said, subsystem

SLOTS = [parameter(f"SLOT_{number}_X") for number in range(1, 4)]


def test_names_declared_alike_are_one_family() -> None:
    data = dump([feature("F", params={"slot_2_x": "a"})], params=SLOTS, subsystems=[subsystem("s", "X")])
    imported = import_wallaby(data)
    assert declared(imported) == {"SLOT_?_X": {"type": "string", "macros": "condor", "description": "It is."}}
    assert read(imported)["features/F.yaml"]["params"] == {"SLOT_2_X": "a"}
    assert said(imported) == ["changed parameter SLOT_1_X name", "look subsystem"]


def test_a_subsystem_of_all_of_them_has_the_pattern() -> None:
    names = [slot["name"] for slot in SLOTS]
    imported = import_wallaby(dump(params=SLOTS, subsystems=[subsystem("s", "A", *names, "B")]))
    assert read(imported)["subsystems/condor.yaml"]["subsystems"]["s"]["params"] == ["A", "SLOT_?_X", "B"]


@pytest.mark.parametrize(
    ("about", "params", "names"),
    [
        ("two may be chance", SLOTS[:2], ["A_1"]),
        ("one is declared differently", [*SLOTS[:2], parameter("SLOT_3_X", level=1)], []),
        ("one has another default", [*SLOTS[:2], parameter("SLOT_3_X", default_val="d")], []),
        ("one has another width", [*SLOTS[:2], parameter("SLOT_10_X")], []),
        ("somebody depends on one", [*SLOTS, parameter("A", depends=["slot_2_x"])], []),
        ("the pattern fits another name", [*SLOTS, parameter("SLOT_A_X")], []),
        ("a subsystem has only some", SLOTS, ["SLOT_1_X", "SLOT_2_X"]),
    ],
)
def test_no_family(about: str, params: list[dict[str, Any]], names: list[str]) -> None:
    imported = import_wallaby(dump(params=params, subsystems=[subsystem("s", *names)]))
    assert sorted(declared(imported)) == sorted(parameter["name"] for parameter in params)


def test_no_family_where_the_values_give_other_types() -> None:
    features = [feature("F", params={"SLOT_1_X": ">= a"})]
    assert "SLOT_1_X" in declared(import_wallaby(dump(features, params=SLOTS)))


def test_a_name_with_two_numbers_is_in_the_larger_family() -> None:
    params = [parameter(f"S{one}_{two}") for one in range(2) for two in range(4)]
    patterns = declared(import_wallaby(dump(params=params)))
    assert sorted(patterns) == ["S0_?", "S1_?"]
