"""Parameters' own schemas, as far as draft-07 and editors read them as the program does."""

import re
from typing import Any

from gitcfg.editor.base import Schema

_SAID = frozenset({"title", "description", "examples", "default", "$comment", "deprecated"})
_PLAIN = frozenset(
    {
        *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
        *("required",),
    }
)
_ONE = frozenset({"not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"})
_MANY = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED = frozenset({"properties", "patternProperties"})
# What Rust, Python and JavaScript (with its flag u) all read, and read alike.
_REGEX = re.compile(
    r"(?:[A-Za-z0-9_ /:,@%=#;<>~^$.|()*+?-]|\(\?:|\\[.*+?()\[\]{}|^$\\/]|\{[0-9]+(?:,[0-9]*)?\}"
    r"|\[\^?(?:[A-Za-z0-9_ /:,@%=#;<>.*+?$()]|[A-Za-z0-9]-[A-Za-z0-9]|\\[\\\]\[.^-])+-?\])*"
)


def convert_own_schema(schema: Any) -> Schema | bool | None:
    """The schema for an editor; None where a keyword might mean something else there.

    One such keyword drops the whole: under `not` or `if` to leave it out would refuse more.
    """
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        return None
    result: Schema = {}
    for key, said in schema.items():
        if key in _SAID or key == "$schema":
            continue
        if not _certain(key, said):
            return None
        inner = _inner(key, said)
        if inner is None:
            return None
        result[key] = inner
    return result


def _certain(key: str, said: Any) -> bool:
    """Does everybody read this keyword alike, what stands inside it aside?"""
    if key == "pattern":
        return _portable(said)
    if key == "enum":
        return bool(said) and all(said.index(item) == at for at, item in enumerate(said))  # else none at all
    if key == "multipleOf":
        return isinstance(said, int)  # editors divide fractions as floats
    if key == "patternProperties":
        return isinstance(said, dict) and all(map(_portable, said))
    return key in _PLAIN or key in _ONE or key in _MANY or key in _NAMED


def _portable(pattern: Any) -> bool:
    if not isinstance(pattern, str) or "(?" in pattern.replace("(?:", ""):
        return False
    return _REGEX.fullmatch(pattern) is not None


def _inner(key: str, said: Any) -> Any:
    if key in _ONE:
        return convert_own_schema(said)
    if key in _MANY and isinstance(said, list):
        many = [convert_own_schema(part) for part in said]
        return None if None in many else many
    if key in _NAMED and isinstance(said, dict):
        named = {name: convert_own_schema(part) for name, part in said.items()}
        return None if None in named.values() else named
    return said
