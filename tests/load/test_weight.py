"""What a schema may cost: what it refers to, how often, and how that adds up."""

from typing import Any

import pytest

from gitcfg.load.schema import Weight, weigh


@pytest.mark.parametrize(
    ("schema", "steps", "patterns"),
    [
        ({}, 5, 0),
        ({"enum": ["a", "b"]}, 7, 0),
        ({"pattern": "a", "patternProperties": {"b": {}, "c": True}}, 10, 3),
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, 15, 2),
        ({"$defs": {"a": {"pattern": "a"}}}, 5, 0),
        ({"$defs": {"a": {"pattern": "a"}}, "items": {"$ref": "#/$defs/a"}}, 15, 1),
        ({"$defs": {"a": {"pattern": "a"}}, "anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}, 25, 2),
        ({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}, 25, 0),
        ({"$defs": {"a/b": True}, "$ref": "#/$defs/a~1b"}, 5, 0),
        ({"allOf": [{"enum": [1]}], "items": {"$ref": "#/allOf/0"}}, 22, 0),
    ],
)
def test_every_part_counts_as_often_as_a_value_meets_it(schema: Any, steps: int, patterns: int) -> None:
    assert weigh(schema) == Weight(None, steps, patterns)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"$ref": "other.json#/a"}, "it refers to 'other.json#/a'"),
        ({"$ref": "#anchor", "$anchor": "anchor"}, "it refers to '#anchor'"),
        ({"$ref": "#/$defs/missing"}, "it refers to '#/$defs/missing'"),
        ({"$ref": "#/allOf/1", "allOf": [{}]}, "it refers to '#/allOf/1'"),
        ({"$ref": "#/enum/0", "enum": [{"$ref": "x"}]}, "it refers to '#/enum/0'"),
        ({"items": {"$dynamicRef": "#x"}}, "`$dynamicRef`"),
        ({"items": {"$id": "urn:x"}}, "`$id` inside"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "only draft 2020-12"),
        ({"allOf": [{"$ref": "#"}] * 1 + [{"items": {"$ref": "#"}}, {"not": {"$ref": "#"}}]}, ""),
        ({"anyOf": [{"not": {"not": {"$ref": "#", "title": str(n)}}} for n in range(9)]}, "might not finish"),
    ],
)
def test_what_leads_outside_or_round_and_round_is_refused(schema: Any, said: str) -> None:
    refusal = weigh(schema).refusal
    assert (refusal or "").startswith(said) or said in (refusal or "")
    assert bool(refusal) == bool(said)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": 5, "enum": 3, "patternProperties": 7, "properties": [1], "allOf": {"a": 1}, "items": [1]},
        {
            "properties": {"if": 1, "$ref": "x"},
            "then": None,
            "$schema": "https://json-schema.org/draft/2020-12/schema",
        },
    ],
)
def test_what_is_no_schema_at_all_is_left_to_the_validator(schema: Any) -> None:
    assert weigh(schema).refusal is None
