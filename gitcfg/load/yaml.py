"""YAML 1.2: nodes from libyaml's events, scalars of the core schema, errors in plain words, and output."""

import operator
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import yaml
from yaml import YAMLError
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_WORDS: dict[str, bool | None] = {
    "null": None,
    "Null": None,
    "NULL": None,
    "~": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
NOT_TEXT = frozenset("0123456789+-.tTfFnN~")
DECIMAL = re.compile(r"[-+]?[0-9]+")
BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_LONGEST_INTEGER = 4000  # Python neither reads nor writes integers of more than 4,300 decimal digits
_LARGEST_INTEGER = 10**_LONGEST_INTEGER

Scalar = str | int | float | bool | None


def resolve(text: str) -> Scalar:
    """Return the value of a plain scalar. Raise ValueError for an integer with too many digits."""
    if text[:1] not in NOT_TEXT:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if DECIMAL.fullmatch(text):
        return _integer(text, 10)
    if BASED.fullmatch(text):
        return _integer(text[2:], 8 if text[1] == "o" else 16)
    if FLOAT.fullmatch(text):
        return float(text.replace(".", "", 1) if text.lower().lstrip("+-") in (".inf", ".nan") else text)
    return text


def _integer(digits: str, base: int) -> int:
    value = int(digits, base) if len(digits) <= _LONGEST_INTEGER else _LARGEST_INTEGER
    if abs(value) >= _LARGEST_INTEGER:
        raise ValueError(f"a number of {len(digits)} digits")
    return value


# Input and output of YAML through libyaml's events: the only module that imports PyYAML.

__all__ = [
    "AliasEvent",
    "MappingEndEvent",
    "MappingNode",
    "MappingStartEvent",
    "Node",
    "ScalarEvent",
    "ScalarNode",
    "SequenceEndEvent",
    "SequenceNode",
    "SequenceStartEvent",
    "StreamEndEvent",
    "YAMLError",
    "complaint",
    "composed",
    "dump",
    "events",
]


def events(data: bytes | str) -> Iterator[Any]:
    """Return libyaml's parsing events, which work for any depth of nesting, unlike composing."""
    return iter(yaml.CSafeLoader(data).get_event, None)


class _Composer(CParser):
    """Composes nodes. Without a written tag, a node's `tag` is whether the value is plain.

    PyYAML's hooks for each node are replaced by C functions that do nothing: 4 us a file of 40 values.
    """

    descend_resolver = staticmethod(operator.is_)
    ascend_resolver = staticmethod(tuple)

    @staticmethod
    def resolve(kind: Any, value: str | None, implicit: Any) -> Any:
        """Return whether a scalar is plain; true for a mapping or list without a tag."""
        return implicit if value is None else implicit[0]


def composed(text: str) -> Any:
    """Return the root node of a text's one document, or None if there is none. Deep nesting crashes it.

    It creates fewer objects than events do, in C: 23 us a file of 40 values instead of 33. Raise YAMLError if
    the text is not YAML, or has two documents.
    """
    return _Composer(text).get_single_node()


_AT_THE_BEGINNING = frozenset(
    {
        "found unexpected end of stream",
        "did not find expected ',' or ']'",
        "did not find expected ',' or '}'",
    }
)
_PLAINER = {
    "did not find expected node content": "a value is missing here, or a bracket before it is not closed",
    "did not find expected key": "this line is not indented like its neighbours",
    "did not find expected ',' or ']'": "a list in brackets is not closed, or lacks a comma",
    "did not find expected ',' or '}'": "a mapping in braces is not closed, or lacks a comma",
    "did not find expected '-' indicator": "this line is not an item of the list above it",
    "mapping values are not allowed in this context": "a plain value contains `: `; quote it",
    "could not find expected ':'": "a colon is missing after a key",
    "found unexpected end of stream": "a quote is not closed",
    "found character that cannot start any token": "a plain value cannot begin with this character; quote it",
}


def complaint(error: yaml.YAMLError) -> tuple[str, int, int]:
    """Return the parser's message in plain words, with its line and column (from 1)."""
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be parsed"
    begun = getattr(error, "context_mark", None)
    mark = getattr(error, "problem_mark", None) or begun
    if reason in _AT_THE_BEGINNING and begun is not None:
        mark = begun
    return (
        _PLAINER.get(str(reason), str(reason)),
        (mark.line + 1 if mark else 1),
        (mark.column + 1 if mark else 1),
    )


_STANDING_IN = str.maketrans("\t ", "\ue009\ue020")
"""Replacements for tabs, and for spaces at ends of lines, with which libyaml writes escapes, not a block."""

_STOOD_FOR = str.maketrans("\ue009\ue020", "\t ")
_BLANKS = re.compile(r"\t|[ \t]+$", re.MULTILINE)


class _Dumper(yaml.CSafeDumper):
    """Block style in the order given, without aliases, safe for readers of YAML 1.1 and 1.2."""

    standing_in = True
    has_stand_ins = False

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    if any(line_break in value for line_break in "\x85\u2028\u2029"):  # line ends only in YAML 1.1
        style = '"'
    dumper.has_stand_ins = dumper.has_stand_ins or value != value.translate(_STOOD_FOR)
    plain = value.replace("\t", "").replace("\n", "")
    if style == "|" and dumper.standing_in and not value[0].isspace() and plain.isprintable():
        value = _BLANKS.sub(lambda found: found[0].translate(_STANDING_IN), value)
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent_text)
for _pattern in (BASED, FLOAT, re.compile("~|null|Null|NULL|[yYnN]")):
    # Text that YAML 1.2 would read as another type is quoted too; PyYAML itself knows 1.1 only.
    _Dumper.add_implicit_resolver(
        "tag:gitcfg:quoted", re.compile(f"(?:{_pattern.pattern})$"), list("0123456789+-.nNyY~")
    )


def dump(value: Any) -> str:
    """Return a document that reads back to the same plain value."""
    text, has_stand_ins = _dumped(value, standing_in=True)
    return _dumped(value, standing_in=False)[0] if has_stand_ins else text.translate(_STOOD_FOR)


def _dumped(value: Any, standing_in: bool) -> tuple[str, bool]:
    """Return the document, and whether a text in it has the replacement characters itself."""
    stream = StringIO()
    dumper = _Dumper(stream, sort_keys=False, allow_unicode=True, width=100_000)
    dumper.standing_in = standing_in
    try:
        dumper.open()
        dumper.represent(value)
        dumper.close()
    finally:
        dumper.dispose()
    return stream.getvalue(), dumper.has_stand_ins


# Tabs are allowed in a value's text or a comment, but not between values.


def first_tab(text: str, spans: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Return line and column of the first tab outside the spans of values and outside comments."""
    done = 0
    for start, end in [*sorted(spans), (len(text), len(text))]:
        between = text[done : max(done, start)]
        offset = done
        for line in between.split("\n"):
            tab = line.partition("#")[0].find("\t")
            if tab >= 0:
                index = offset + tab
                return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
            offset += len(line) + 1
        done = max(done, end)
    return None
