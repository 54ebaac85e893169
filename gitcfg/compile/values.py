"""Values of parameters' types: conversion of written values, and lists written as one text."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from gitcfg.load.yaml import resolve
from gitcfg.model import Parameter
from gitcfg.model.secrets import is_secret

# A quote that is not closed extends to the end. With possessive repeats it is read only once.
_QUOTED = r'"(?:[^"\\]|\\.)*+"?+|\'(?:[^\'\\]|\\.)*+\'?+'
_MARKS = {
    "comma": re.compile(rf"{_QUOTED}|[()\[\]{{}},]", re.DOTALL),
    "blank-or-comma": re.compile(rf"{_QUOTED}|[()\[\]{{}},]|\s++", re.DOTALL),
}


def split_list(text: str, separator: str | None) -> list[str]:
    """Return the items of a text, trimmed, without empty ones; never split inside quotes or brackets.

    Without a separator the text is one item.
    """
    pieces = _pieces(text, separator) if separator else [text]
    return [item for item in map(str.strip, pieces) if item]


def _pieces(text: str, separator: str) -> list[str]:
    pieces: list[str] = []
    start = depth = 0
    for match in _MARKS[separator].finditer(text):
        mark = match[0][0]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth = max(0, depth - 1)
        elif depth == 0 and mark not in "\"'":
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def join_list(items: Sequence[Any], separator: str | None) -> str:
    """Return items as one text."""
    return (" " if separator == "blank-or-comma" else ", ").join(map(str, items))


def find_unfit(items: Sequence[str], separator: str | None) -> str | None:
    """Return the first item that would not be read back unchanged from the joined text, or None."""
    found = split_list(join_list(items, separator), separator or "comma")
    for index, item in enumerate(items):
        if found[index : index + 1] != [item]:
            return item
    return None


# The conversion of a written value to a parameter's type.

TYPES = ("string", "integer", "number", "boolean", "list", "map", "expression", "path")
TEXTS = frozenset({"string", "expression", "path"})


class Misfit(ValueError):
    """A value or operation that does not fit, in words that follow the parameter's name."""


def to_typed(parameter: Parameter | None, kind: str | None, given: Any, text: str | None) -> Any:
    """Return the value of a type; `text` is the source of a plain scalar. Raise Misfit if it does not fit."""
    source = given if text is None else text
    if kind == "list":
        return as_list(parameter, given)
    if parameter is not None and parameter.macros and isinstance(source, str) and "$(" in source:
        return source
    return _READERS[kind](given, source)


def as_list(parameter: Parameter | None, given: Any) -> list[Any]:
    """Return a list: the given one, text split by the parameter's separator, or a single item."""
    if isinstance(given, str):
        return split_list(given, parameter.separator if parameter else None)
    if isinstance(given, dict):
        raise Misfit("is a list, not a map")
    return [*_plain(given, given)] if isinstance(given, list) else [_plain(given, given)]


def is_macro_text(parameter: Parameter, value: Any) -> bool:
    """Return whether a value has macros, so that only the target can read it as its type."""
    return bool(parameter.macros and parameter.type not in TEXTS and isinstance(value, str) and "$(" in value)


def describe_type(value: Any) -> str:
    """Return the type of a value, in the words of people who write YAML."""
    words: dict[type, str] = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "a map",
    }
    return words.get(type(value), "null")


def _text(given: Any, source: Any) -> str:
    if isinstance(given, list | dict):
        raise Misfit(f"is text, not {describe_type(given)}")
    return str(source)


def _integer(given: Any, source: Any) -> int:
    value = _scalar(source)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Misfit(f"is an integer, not {_quoted(given, source)}")
    return value


def _number(given: Any, source: Any) -> float:
    value = _scalar(source)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Misfit(f"is a number, not {_quoted(given, source)}")
    return value


def _boolean(given: Any, source: Any) -> bool:
    word = str(source).lower()
    if isinstance(given, list | dict) or word not in ("true", "false"):
        raise Misfit(f"is a boolean, not {_quoted(given, source)}")
    return word == "true"


def _map(given: Any, source: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Misfit(f"is a map, not {describe_type(given)}")
    _plain(given, source)
    return given


def _plain(given: Any, source: Any) -> Any:
    """Return YAML's own value.

    Raise Misfit if JSON cannot represent it, or if it looks like a secret.
    """
    if isinstance(given, float) and not math.isfinite(given):
        raise Misfit(f"cannot be {source}: it is not a finite number")
    if is_secret(given):
        raise Misfit("cannot contain a `$secret` within its value")
    for item in given.values() if isinstance(given, dict) else given if isinstance(given, list) else ():
        _plain(item, item)
    return given


def is_presentable(value: Any) -> bool:
    """Return whether JSON can represent a value."""
    try:
        _plain(value, value)
    except Misfit:
        return False
    return True


def _scalar(source: Any) -> Any:
    try:
        return resolve(source) if isinstance(source, str) else source
    except ValueError:
        return source


def _quoted(given: Any, source: Any) -> str:
    if isinstance(given, list | dict):
        return describe_type(given)
    text = str(source)
    return repr(text if len(text) <= 60 else text[:57] + "...")


_READERS: dict[str | None, Callable[[Any, Any], Any]] = {
    None: _plain,
    "string": _text,
    "expression": _text,
    "path": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "map": _map,
}
