"""YAML 1.2's core schema over PyYAML's nodes: plain scalars keep their source text."""

import re
from typing import Any, NamedTuple

import yaml

_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS_OF_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Plain(NamedTuple):
    """An unquoted scalar that YAML does not read as text: its value, and how it was written."""

    value: Any
    text: str


Raw = Any
"""Text, a Plain, a list of Raw or a dictionary of Raw by text."""


def read(text: str) -> Raw:
    """The one document of a text."""
    return _build(yaml.compose(text, Loader=yaml.BaseLoader))


def _build(node: Any) -> Raw:
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.style else _plain(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_build(item) for item in node.value]
    return {key.value: _build(value) for key, value in node.value}


def _plain(text: str) -> str | Plain:
    if text in _WORDS or text in _WORDS_OF_TRUTH:
        return Plain(_WORDS_OF_TRUTH.get(text), text)
    if _INTEGER.fullmatch(text):
        return Plain(int(text), text)
    if _OTHER_BASE.fullmatch(text):
        return Plain(int(text, 0), text)
    if _FLOAT.fullmatch(text):
        return Plain(float(text), text)
    return text


def value(raw: Raw) -> Any:
    """YAML's value, as JSON has it."""
    if isinstance(raw, Plain):
        return raw.value
    if isinstance(raw, list):
        return [value(item) for item in raw]
    if isinstance(raw, dict):
        return {key: value(item) for key, item in raw.items()}
    return raw
