"""The program's own schemas in the dialect that editors understand best: JSON Schema draft-07."""

from functools import cache
from typing import Any

import msgspec

from gitcfg import bundled

DIALECT = "http://json-schema.org/draft-07/schema#"
_HERE, _THERE = "#/$defs/", "#/definitions/"

Schema = dict[str, Any]


def load_schema(kind: str) -> Schema:
    """A copy of schema/KIND.json. They hold nothing else that the two drafts read differently."""
    found: Schema = _converted(_read(kind))
    found["definitions"] = found.pop("$defs", {})
    del found["$id"]  # the same names mean other things in another repository
    return {**found, "$schema": DIALECT}


def ref(name: str) -> Schema:
    """What stands for a definition."""
    return {"$ref": _THERE + name}


def prune_definitions(schema: Schema) -> Schema:
    """The schema with those definitions alone that it refers to."""
    every = schema.pop("definitions")
    kept: dict[str, Schema] = {}
    pending = [schema]
    while pending:
        for name in _referred(pending.pop()) & every.keys() - kept.keys():
            kept[name] = every[name]
            pending.append(every[name])
    return {**schema, "definitions": {name: kept[name] for name in sorted(kept)}}


def _referred(part: Any) -> set[str]:
    if isinstance(part, list):
        return {name for inner in part for name in _referred(inner)}
    if not isinstance(part, dict):
        return set()
    said = part.get("$ref")
    own = {said.rpartition("/")[2]} if isinstance(said, str) else set()
    return own | {name for inner in part.values() for name in _referred(inner)}


@cache
def _read(kind: str) -> Any:
    return msgspec.json.decode(bundled.schema(kind))


def _converted(part: Any) -> Any:
    if isinstance(part, list):
        return [_converted(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    result = {key: _converted(inner) for key, inner in part.items()}
    if isinstance(result.get("$ref"), str):
        result["$ref"] = result["$ref"].replace(_HERE, _THERE)
    return result
