"""What judging a value by a schema that somebody pushed can cost at most, found by reading the schema."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_OF_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_HERE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
_BELOW = (
    *("properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"),
    *("items", "prefixItems", "contains", "unevaluatedItems", "contentSchema"),
)
_ALL = (*_HERE, *_BELOW, "$defs", "definitions")
_MOST_STEPS = 10_000  # references can double the parts that one value meets, again and again
_MOST_CIRCLES = 8  # ways back to a part at the same value: the engine takes them in every order
_A_PART = 5  # steps

Path = tuple[str | int, ...]


class Weight(msgspec.Struct, frozen=True):
    """Steps and patterns that one value may meet, or why no value must be judged by the schema."""

    refusal: str | None = None
    steps: int = 0
    patterns: int = 0


def weighed(schema: dict[str, Any]) -> Weight:
    """The weight of a schema; whether it is sound as such is for the validator to say."""
    parts = {id(part): part for _, part in parts_at(schema)}
    for part in parts.values():
        refusal = _outward(schema, part, parts)
        if refusal is not None:
            return Weight(refusal)
    steps = circles = patterns = 0
    for part, circle in _visits(schema):
        circles += circle
        steps += _A_PART + _length(part.get("enum"))
        patterns += ("pattern" in part) + ("format" in part) + _length(part.get("patternProperties"))
        if steps > _MOST_STEPS or circles > _MOST_CIRCLES:
            return Weight("its references multiply, or lead in circles: judging a value might never end.")
    return Weight(None, steps, patterns)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def parts_at(schema: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The schema and every schema in it with the path to it, references not followed."""
    pending: list[tuple[Path, dict[str, Any]]] = [((), schema)]
    while pending:
        path, part = pending.pop()
        yield path, part
        pending += [((*path, *step), inner) for step, inner in _inner_at(part, _ALL)]


def _inner(part: dict[str, Any], keys: Iterable[str]) -> Iterator[dict[str, Any]]:
    return (inner for _, inner in _inner_at(part, keys))


def _inner_at(part: dict[str, Any], keys: Iterable[str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    for key in keys:
        said = part.get(key)
        if key in _BY_NAME and isinstance(said, dict):
            yield from (((key, name), inner) for name, inner in said.items() if isinstance(inner, dict))
        elif key in _OF_MANY and isinstance(said, list):
            yield from (((key, at), inner) for at, inner in enumerate(said) if isinstance(inner, dict))
        elif key not in _BY_NAME and isinstance(said, dict):
            yield (key,), said


def _outward(root: dict[str, Any], part: dict[str, Any], parts: dict[int, Any]) -> str | None:
    """Why a part leads out of the schema, if it does."""
    if str(part.get("$schema", _DRAFT)).rstrip("#") != _DRAFT:
        return "only draft 2020-12 is understood; leave `$schema` out."
    if "$dynamicRef" in part or ("$id" in part and part is not root):
        return "`$dynamicRef`, and `$id` inside a schema, are not supported."
    reference = part.get("$ref")
    if not isinstance(reference, str):
        return None
    target = _target(root, reference)
    if not isinstance(target, bool) and id(target) not in parts:
        return f"it refers to {reference[:60]!r}, and only what it holds itself (#/$defs/NAME) is followed."
    return None


def _target(root: dict[str, Any], reference: str) -> Any:
    """What a reference such as `#/$defs/a` names, None if nothing."""
    start, *steps = reference.split("/")
    place: Any = root if start == "#" else None
    for step in steps:
        place = _inside(place, step.replace("~1", "/").replace("~0", "~"))
    return place


def _inside(place: Any, key: str) -> Any:
    if isinstance(place, dict):
        return place.get(key)
    found = isinstance(place, list) and len(key) < 9 and key.isdecimal() and int(key) < len(place)
    return place[int(key)] if found else None


def _visits(root: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Every part as often as one value may meet it, and whether it was met at the same place before.

    A part that contains itself further down is not entered again: the engine remembers what it did.
    """
    nowhere: frozenset[int] = frozenset()
    pending = [(root, nowhere, nowhere)]
    while pending:
        part, above, here = pending.pop()
        yield part, id(part) in here
        if id(part) in above:
            continue
        above, here = above | {id(part)}, here | {id(part)}
        reference = part.get("$ref")
        target = _target(root, reference) if isinstance(reference, str) else None
        if isinstance(target, dict):
            pending.append((target, above, here))
        pending += [(inner, above, here) for inner in _inner(part, _HERE)]
        pending += [(inner, above, nowhere) for inner in _inner(part, _BELOW)]
