"""Output judged by the schemas that are published for it."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).parent.parent.parent / "schema" / "output"


@cache
def validators() -> dict[str, Draft202012Validator]:
    """By the name that a record or line says of its schema."""
    found = {}
    for path in SCHEMAS.glob("*.json"):
        schema = json.loads(path.read_text())
        Draft202012Validator.check_schema(schema)
        for part in schema["oneOf"]:
            body = schema["$defs"][part["$ref"].rpartition("/")[2]]
            name = body["properties"]["schema"]["const"]
            found[name] = Draft202012Validator({**schema, "oneOf": [part]})
    return found


def records(text: str, output: str) -> list[Any]:
    """What was written as one of the formats for programs."""
    if output == "json":
        return [json.loads(text)]
    if output == "yaml":
        return [yaml.safe_load(text)]
    return [json.loads(line) for line in text.splitlines()]


def judge(text: str, output: str) -> None:
    """AssertionError: what was written does not fit the schema that it names."""
    for record in records(text, output):
        problems = [error.message for error in validators()[record["schema"]].iter_errors(record)]
        assert not problems, (record, problems)
