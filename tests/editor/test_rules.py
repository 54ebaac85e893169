"""Rules and allocations in an editor: what it offers, and what it marks."""

from typing import Any

import pytest
from jsonschema import Draft7Validator

from gitcfg.editor.schemas import build_schemas
from gitcfg.git.tree import DictTree
from gitcfg.load.repository import load

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {P: {type: integer}}",
    "features/F.yaml": "description: One.",
    "groups/g.yaml": "{}",
    "rules/r.yaml": "rules: {known: {install: F, description: All.}}",
}


def judge(kind: str) -> Draft7Validator:
    return Draft7Validator(build_schemas(load(DictTree(FILES)))[kind])


def fits(rule: dict[str, Any]) -> bool:
    return judge("rules").is_valid({"rules": {"r": rule}})


RIGHT: list[dict[str, Any]] = [
    {"install": "F", "where": "x", "count": {"max": 1}},
    {"limit": "F", "over": "F", "count": {"max": 1}},
    {"set": {"P": 1}},
    {"set": {"P": {"$collect": {"param": "P", "feature": "F", "same": ["x"], "sort": "value", "one": True}}}},
    {"domain": {"anything": [1, "a-b"]}, "unique": "fleet"},
    {"forbid": {"by": ["x"], "features": ["F", "G*"], "params": ["P", "Q*"], "groups": ["g", "default"]}},
    {"allow": {"by": ["x"], "rules": ["known", "*"], "nodes": ["n1"], "files": ["/f"]}},
]
WRONG: list[dict[str, Any]] = [
    {"install": "G"},
    {"install": "F", "over": "G"},
    {"install": "F", "unique": "fleet"},
    {"limit": "F", "count": 1},
    {"set": {"P": "x"}},
    {"set": {"Q": 1}},
    {"set": {"P": 1}, "install": "F"},
    {"forbid": {"by": ["x"], "features": ["G"]}},
    {"forbid": {"by": ["x"], "params": ["Q"]}},
    {"forbid": {"by": ["x"], "groups": ["h"]}},
    {"forbid": {"by": ["x"], "secrets": ["s"]}},
    {"allow": {"by": ["x"], "rules": ["r"]}},
]


@pytest.mark.parametrize("rule", RIGHT, ids=str)
def test_what_is_right_fits(rule: dict[str, Any]) -> None:
    assert fits(rule)


@pytest.mark.parametrize("rule", WRONG, ids=str)
def test_what_is_wrong_does_not(rule: dict[str, Any]) -> None:
    assert not fits(rule)


def test_names_are_offered_with_their_descriptions() -> None:
    found = build_schemas(load(DictTree(FILES)))["rules"]
    entry = found["properties"]["rules"]["additionalProperties"]["properties"]
    assert entry["install"]["enum"] == ["F"]
    assert entry["install"]["enumDescriptions"] == ["One."]
    permitted = found["definitions"]["permit"]["properties"]
    assert permitted["rules"]["items"]["anyOf"][0] == {"enum": ["known"], "enumDescriptions": ["All."]}


def test_pointing_at_a_parameter_shows_which_values_rules_leave() -> None:
    rules = "rules: {ports: {domain: {P: [80]}}, own: {domain: {P: [1]}, over: F}}"
    found = build_schemas(load(DictTree({**FILES, "rules/r.yaml": rules})))["groups"]["definitions"]["params"]
    shown = found["properties"]["P"]["markdownDescription"]
    assert "- values by the rule `ports`: `[80]`" in shown
    assert "own" not in shown


def test_what_may_be_collected_is_offered_and_all_is_taken() -> None:
    operations = build_schemas(load(DictTree(FILES)))["groups"]["definitions"]["binding-integer"]["else"][
        "then"
    ]
    parts = operations["properties"]["$collect"]["properties"]
    assert parts["param"]["anyOf"] == [{"enum": ["P", "name"]}, {}]
    assert parts["feature"]["anyOf"] == [{"enum": ["F"]}, {}]
    assert parts["join"]["description"]


def test_slots_and_values_of_allocations_are_judged() -> None:
    assert judge("allocations").is_valid({"install": ["n1/a"], "values": {"n1": {"P": 1}}})
    assert not judge("allocations").is_valid({"values": {"n1": {"P": [1]}}})
