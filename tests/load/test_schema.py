"""Schemas: what they take and refuse, in words for people, agreed on by both validators."""

from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg import bundled
from gitcfg.load.document import parse
from gitcfg.load.schema import OwnSchema, problems

KINDS = [path.stem for path in sorted((Path(__file__).parents[2] / "schema").glob("*.json"))]
SAMPLE = Path(__file__).parents[2] / "sample-repo"
KIND_OF = {
    "parameters": "parameters",
    "subsystems": "subsystems",
    "features": "feature",
    "groups": "group",
    "nodes": "node",
    "nodesets": "nodeset",
    "overrides": "override",
    "rules": "rules",
    "allocations": "allocation",
}


def schema(kind: str) -> Any:
    return msgspec.json.decode(bundled.read_schema(kind))


def described(value: Any) -> bool:
    """Does every property say what it is?"""
    if isinstance(value, list):
        return all(map(described, value))
    if not isinstance(value, dict):
        return True
    own = value.get("properties", {})
    names = own.items() if isinstance(own, dict) else ()
    return all(
        "description" in said or "$ref" in said or name.startswith("$") for name, said in names
    ) and all(map(described, value.values()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_sound_and_tells_what_each_key_means(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(kind))
    assert schema(kind)["$id"] == f"urn:gitcfg:schema:1:{kind}"
    assert described(schema(kind))


@pytest.mark.parametrize(
    "path", sorted(SAMPLE.rglob("*.yaml")), ids=lambda path: path.relative_to(SAMPLE).as_posix()
)
def test_the_sample_fits(path: Path) -> None:
    kind = KIND_OF.get(path.relative_to(SAMPLE).parts[0], "gitcfg")
    assert problems(kind, parse(path.name, path.read_bytes()).value) == ()


MISTAKES = [
    ("group", {"featurs": []}, "There is no key featurs here.", "Did you mean features?"),
    ("group", {"features": "A"}, "features must be a list, not text.", ""),
    ("group", {"features": [1]}, "An item of features must be text or a mapping, not the number 1.", ""),
    ("group", {"features": [{"as": "x"}]}, "An item of features lacks feature.", ""),
    (
        "group",
        {"params": {"P": {"$apend": 1}}},
        "There is no operation $apend here.",
        "Did you mean $append?",
    ),
    ("group", {"params": {"P": {"$append": 1, "$remove": 2}}}, "P has two operations.", "Use one of them."),
    ("group", {"params": {"P": {"$unset": False}}}, "$unset can only be true.", ""),
    ("group", {"params": {"P": {"$fact": 5}}}, "$fact must be text, not the number 5.", "Quote it."),
    (
        "group",
        {"files": {"/a": {"mode": 644}}},
        "mode must be text, not the number 644.",
        'Quote it: "0644".',
    ),
    ("group", {"files": {"/a": []}}, "/a must be a mapping or null, not a list.", ""),
    ("group", [], "The document must be a mapping, not a list.", ""),
    ("group", None, "The document must be a mapping, not null.", ""),
    (
        "node",
        {"groups": {"$append": ["a"], "$remove": []}},
        "groups has two operations.",
        "Use one of them.",
    ),
    ("node", {"state": "retird"}, "state must be active or retired, not retird.", "Did you mean retired?"),
    ("nodeset", {}, "The document lacks nodes.", ""),
    (
        "override",
        {"nodes": "a", "where": "b", "reason": "r", "until": "2027-01-01"},
        "One of nodes or where",
        "",
    ),
    ("override", {"nodes": "a", "reason": "r"}, "The document lacks until.", ""),
    ("override", {"nodes": "a", "reason": "", "until": "2027-01-01"}, "reason must not be empty.", ""),
    ("override", {"nodes": "a", "reason": "r", "until": "soon"}, "until does not have the form", ""),
    (
        "parameters",
        {"parameters": {"P": {"type": "str"}}},
        "type must be string, integer",
        "Did you mean string?",
    ),
    ("parameters", {"parameters": {"P": {"level": 3}}}, "level must be at most 2.", ""),
    ("parameters", {"parameters": {"P": {"restart": "yes"}}}, "restart must be true or false, not text.", ""),
    ("parameters", {"parameters": {"P": None}}, "P must be a mapping, not null.", ""),
    ("subsystems", {"subsystems": {"s": {"reload": "x y"}}}, "reload must be a list, not text.", ""),
    ("gitcfg", {"format": "1"}, "format must be a whole number, not text.", ""),
    ("gitcfg", {"max_nodes": 0}, "max_nodes must be at least 1.", ""),
]


@pytest.mark.parametrize(("kind", "document", "message", "hint"), MISTAKES)
def test_mistakes_are_told_in_words(kind: str, document: Any, message: str, hint: str) -> None:
    found = problems(kind, document)
    assert [(problem.message[: len(message)], problem.hint) for problem in found] == [(message, hint)]


def test_a_plain_map_with_a_key_like_an_operation_among_others() -> None:
    found = problems("group", {"params": {"P": {"$append": 1, "key": 2}}})
    assert any("is next to an operation" in problem.message for problem in found)
    assert problems("group", {"params": {"P": {"key": {"$append": 1}}}}) == ()


def test_no_message_is_endless() -> None:
    huge = {
        "params": {"P": {"$" + "x" * 100_000: 1}},
        "y" * 100_000: 1,
        "features": ["x"] * 10_000 + [1] * 10_000,
    }
    found = problems("group", huge)
    assert 0 < len(found) <= 400
    assert all(len(problem.message) < 300 for problem in found)


FINITE = st.floats(allow_nan=False, allow_infinity=False)  # of others the validators think differently

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.sampled_from(["a", "", "$append", "0644"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "params",
                    "features",
                    "groups",
                    "files",
                    "feature",
                    "as",
                    "with",
                    "$append",
                    "$remove",
                    "P",
                    "nodes",
                    "reason",
                    "until",
                    "parameters",
                    "type",
                    "mode",
                    "format",
                    "x",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.sampled_from(KINDS), anything)
def test_both_validators_agree_and_every_refusal_is_explained(kind: str, document: Any) -> None:
    oracle = jsonschema.Draft202012Validator(schema(kind)).is_valid(document)
    assert jsonschema_rs.Draft202012Validator(schema(kind)).is_valid(document) == oracle
    assert (problems(kind, document) == ()) == oracle


@pytest.mark.parametrize(
    ("own", "value", "fits"),
    [
        ({"minimum": 1}, 1, True),
        ({"minimum": 1}, 0, False),
        ({"enum": ["a"]}, "a", True),
        ({"pattern": "^a+$"}, "b", False),
        ({"items": {"type": "string"}}, ["a", 1], False),
    ],
)
def test_a_parameters_own_schema(own: dict[str, Any], value: Any, fits: bool) -> None:
    assert OwnSchema(own).refusal is None
    assert (OwnSchema(own).problem(value) is None) == fits


@pytest.mark.parametrize(
    "own",
    [
        {"type": "strng"},
        {"minimum": "1"},
        {"pattern": "("},
        {"$ref": "file:///etc/passwd"},
        {"items": {"$ref": "http://127.0.0.1/x"}},
        {"$ref": "other.json"},
        {"$dynamicRef": "urn:x"},
        {"$ref": "#/$defs/missing"},
    ],
)
def test_a_schema_that_is_none_or_leads_outside_is_refused(own: dict[str, Any]) -> None:
    assert OwnSchema(own).refusal is not None
