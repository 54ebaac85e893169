"""Reads with the least work the documents that hold nothing unusual, which are nearly all."""

import re
from functools import lru_cache
from typing import Any

from gitcfg.load import yaml
from gitcfg.load.scalars import NOT_TEXT, Scalar, resolve

MAX_LEVELS = 64
_MOST = 1000  # levels
_LEFT_OUT = re.compile(r"[&*][0-9A-Za-z_-]|!(?:[\s,]|$)")
_INDENTED = re.compile(r"[ ?:-]{200}")
_SHORT = 24  # numbers and words that are remembered: the same ones come again and again
_remembered = lru_cache(maxsize=1 << 14)(resolve)

MappingNode: Any = yaml.MappingNode
ScalarNode: Any = yaml.ScalarNode


class _Unusual(Exception):
    """The careful reader must look at it: it is wrong, or rare."""


def quick(text: str) -> tuple[Any, Any] | None:
    """A document's value and its root node, or None: the careful reader shall read it, and say what is wrong.

    Two thirds of the time that the careful reader takes, which goes from event to event.
    """
    if "\t" in text or _may_be_left_out(text) or _may_be_deep(text):
        return None
    try:
        node = yaml.composed(text)
        return None if node is None else (_value(node, 1), node)
    except (_Unusual, ValueError, yaml.YAMLError):
        return None


def _may_be_left_out(text: str) -> bool:
    """Might it hold what nodes do not tell: an anchor, an alias, or a `!` alone?"""
    return ("&" in text or "*" in text or "!" in text) and _LEFT_OUT.search(text) is not None


def _may_be_deep(text: str) -> bool:
    """Might it nest so deeply that composing runs out of stack? 2,000 levels fit into 1 MiB of it.

    A level takes a bracket, or an indentation that is larger than that of the level above, or a list's
    that is as large.
    """
    brackets = text.count("[") + text.count("{")
    return len(text) > _MOST and (brackets > _MOST or _INDENTED.search(text) is not None)


def _value(node: Any, level: int) -> Any:
    if type(node) is ScalarNode:
        return _scalar(node)
    if level > MAX_LEVELS or node.tag is not True:
        raise _Unusual
    return _mapping(node, level) if type(node) is MappingNode else _sequence(node, level)


def _scalar(node: Any) -> Scalar:
    text: str = node.value
    if node.tag is True:
        first = text[:1]
        if first in NOT_TEXT:
            return _remembered(text) if len(text) < _SHORT else resolve(text)
        if not first:
            raise _Unusual
    elif node.tag is not False:
        raise _Unusual
    return text


def _mapping(node: Any, level: int) -> dict[str, Any]:
    """A mapping's value. Quoted values cost no call."""
    result: dict[str, Any] = {}
    for key, inner in node.value:
        name = key.value
        if type(key) is not ScalarNode or (key.tag is not False and (key.tag is not True or name == "<<")):
            raise _Unusual
        if type(inner) is ScalarNode:
            result[name] = inner.value if inner.tag is False else _scalar(inner)
        else:
            result[name] = _value(inner, level + 1)
    if len(result) != len(node.value):
        raise _Unusual
    return result


def _sequence(node: Any, level: int) -> list[Any]:
    result: list[Any] = []
    for inner in node.value:
        if type(inner) is ScalarNode:
            result.append(inner.value if inner.tag is False else _scalar(inner))
        else:
            result.append(_value(inner, level + 1))
    return result
