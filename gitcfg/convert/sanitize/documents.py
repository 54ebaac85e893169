"""YAML documents with replaced texts: the roles of their scalars, and the replacements."""

import re
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Any

import msgspec

from gitcfg.check.findings import CODES
from gitcfg.convert.sanitize.pseudonyms import Pseudonyms, replace_between
from gitcfg.convert.sanitize.words import CHOICES, COLLECTED, SCHEMA, SCHEMA_CHOICES, keys
from gitcfg.load import yaml

_SETTING = re.compile(
    r"(?:\d{1,7}(?:\.\d{1,4})?[a-z%]{1,2}){0,4}(?:\d{1,7}(?:\.\d{1,4})?)?|0o[0-7]{1,4}|GC\d{3}"
    r"|\d{4}-\d\d-\d\d(?:[T ][\d:.]{1,15}(?:Z|[-+][\d:]{1,5})?)?"
)
"""The values of the format's own settings: numbers, durations, shares, modes, days."""
_COMMENT = re.compile(r"(?:[ \t]+|(?<=[\r\n])|\A)#[^\r\n]*")
_ESCAPED = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_KEY = re.compile(r"(?<![\w$])(\$?[a-z_]+)(?=[\"']?[ \t]*:)")
_LARGEST = 1 << 20
"""Larger documents are never parsed (GC101)."""
_DEEPEST = 64
"""Deeper documents are refused (GC101); libyaml takes 15 s for 100,000 levels."""


class Role(Enum):
    """The content of a place in a document, which decides how the places below it are read."""

    STRUCTURE = auto()  # keys are the format's, scalars are names
    ENTRY = auto()  # the same, of a parameter, subsystem or file
    CHOICE = auto()  # the same, but scalars may be words of the format
    NAMED = auto()  # keys are names, below each an entry
    VALUE = auto()  # keys are names, scalars values
    SCHEMA = auto()  # a JSON Schema
    SCHEMA_CHOICE = auto()
    SCHEMA_NAMED = auto()  # keys are names, below each a schema
    SCHEMA_PATTERNS = auto()  # keys are regular expressions, below each a schema
    PATTERN = auto()
    COLLECT = auto()  # keys are the format's, scalars names and words of it
    RANGES = auto()  # keys are names, scalars values and ranges of them
    CEL = auto()
    COMMIT = auto()
    RECIPIENT = auto()
    MEMBERS = auto()  # keys are node sets, below each values
    NUMBER = auto()  # keys are the format's, scalars its numbers
    PROSE = auto()


def _roles(**words_by_role: str) -> dict[str, Role]:
    return {key: Role[role] for role, words in words_by_role.items() for key in words.split()}


_ENTRY = _roles(
    PROSE="description reason message",
    VALUE="facts with default address text set domain values",
    SCHEMA="schema",
    CEL="where first for require per unique",
    ENTRY="forbid allow",
    RANGES="domain",
    COMMIT="commit",
    RECIPIENT="recipients",
    NUMBER="count max_nodes max_failures version",
    MEMBERS="node_facts",
    CHOICE="type undeclared state separator format using check macros signatures ratchet timeout settle until"
    " stages mode level retries code",
)
_STRUCTURE = {**_ENTRY, **_roles(VALUE="params", NAMED="parameters subsystems files rules")}
_SCHEMA = {
    **_roles(
        VALUE="enum const default examples minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
        PATTERN="pattern",
        SCHEMA_CHOICE="type format",
        STRUCTURE="required",
        NUMBER="minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
        PROSE="description title",
        SCHEMA_NAMED="properties $defs definitions dependentSchemas",
        SCHEMA_PATTERNS="patternProperties",
    ),
    "$comment": Role.PROSE,
}
_OPERATIONS = {"$fact": Role.STRUCTURE, "$secret": Role.STRUCTURE, "$collect": Role.COLLECT}
_BELOW: Mapping[Role, tuple[Mapping[str, Role], Role]] = {
    Role.STRUCTURE: (_STRUCTURE, Role.STRUCTURE),
    Role.CHOICE: (_STRUCTURE, Role.STRUCTURE),
    Role.ENTRY: (_ENTRY, Role.STRUCTURE),
    Role.NAMED: ({}, Role.ENTRY),
    Role.MEMBERS: ({}, Role.VALUE),
    Role.VALUE: (_OPERATIONS, Role.VALUE),
    Role.COLLECT: ({"where": Role.CEL, "join": Role.VALUE}, Role.COLLECT),
    Role.SCHEMA: (_SCHEMA, Role.SCHEMA),
    Role.SCHEMA_NAMED: ({}, Role.SCHEMA),
    Role.SCHEMA_PATTERNS: ({}, Role.SCHEMA),
}
_BY_ROLE = {
    Role.VALUE: Pseudonyms.replace_value,
    Role.SCHEMA: Pseudonyms.replace_value,
    Role.PATTERN: Pseudonyms.replace_regex,
    Role.RANGES: Pseudonyms.replace_range,
    Role.CEL: Pseudonyms.replace_cel,
    Role.COMMIT: Pseudonyms.replace_commit,
    Role.RECIPIENT: Pseudonyms.replace_recipient,
    Role.PROSE: Pseudonyms.replace_prose,
    Role.NUMBER: Pseudonyms.replace_number,
}


class Scalar(msgspec.Struct, frozen=True):
    """A scalar: its place in the text, and its role."""

    start: int
    end: int
    value: str
    style: str | None
    role: Role
    key: bool


class _Open:
    """A mapping or list that is being read: `key` means that a key comes next."""

    __slots__ = ("key", "mapping", "role", "under")

    def __init__(self, role: Role, mapping: bool) -> None:
        self.role = self.under = role
        self.mapping = self.key = mapping


def sanitize_document(text: str, names: Pseudonyms) -> str:
    """Return a document with other names and values on the same lines, and without comments."""
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    try:
        found = list(parse_scalars(text)) if len(text) <= _LARGEST else None
    except (yaml.YAMLError, UnicodeError):
        found = None
    return mark + (_replace_broken(text, names) if found is None else _replace_scalars(text, found, names))


def _replace_scalars(text: str, found: list[Scalar], names: Pseudonyms) -> str:
    parts, end = [], 0
    for scalar in found:
        parts += [
            _between(text[end : scalar.start], names),
            _replace_scalar(text[scalar.start : scalar.end], scalar, names),
        ]
        end = scalar.end
    return "".join([*parts, _between(text[end:], names)])


def _between(text: str, names: Pseudonyms) -> str:
    """Replace what is between scalars, without comments; tags and anchors are names."""
    return names.replace_name(_COMMENT.sub("", text)) if not text.isspace() else text


def _replace_scalar(raw: str, scalar: Scalar, names: Pseudonyms) -> str:
    if scalar.style in ("|", ">"):
        head, line, rest = raw.partition("\n")
        return _COMMENT.sub("", head) + line + _replace_text(rest, scalar, names)
    if "\n" in raw or "\r" in raw:
        return _replace_folded(raw, scalar, names)
    if scalar.style == '"':
        return f'"{"".join(map(_escape, _replace_text(scalar.value, scalar, names)))}"'
    if scalar.style == "'":
        return "'" + _replace_text(scalar.value, scalar, names).replace("'", "''") + "'"
    return _replace_text(raw, scalar, names)


def _replace_folded(raw: str, scalar: Scalar, names: Pseudonyms) -> str:
    """Replace a scalar of several lines; only text between escapes is replaced, so that lines stay."""
    if scalar.style != '"':
        return _replace_text(raw, scalar, names)
    return replace_between(_ESCAPED.finditer(raw), raw, lambda text: _replace_text(text, scalar, names))


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    number = ord(character)
    return (
        f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
    )


def _replace_text(text: str, scalar: Scalar, names: Pseudonyms) -> str:
    """Return the replacement for the text of a scalar."""
    if (_is_keyword if scalar.key else _is_choice)(scalar.role, text):
        return text
    if scalar.key:
        is_pattern = scalar.role is Role.SCHEMA_PATTERNS
        return names.replace_regex(text) if is_pattern else names.replace_name(text)
    return _BY_ROLE.get(scalar.role, Pseudonyms.replace_name)(names, text)


def _replace_broken(text: str, names: Pseudonyms) -> str:
    """Replace each word of an invalid document; keys of the format stay if a colon follows."""
    every = re.finditer(rf"{_KEY.pattern}|{_ESCAPED.pattern}", text, re.DOTALL)
    kept = (found for found in every if not found[1] or found[1] in keys())
    return replace_between(kept, text, names.replace_value)


def parse_scalars(text: str) -> Iterator[Scalar]:
    """Yield every scalar of a YAML text. Raise YAMLError if it is invalid, or too deep for gitcfg."""
    open: list[_Open] = []
    for event in yaml.events(text):
        if isinstance(event, yaml.ScalarEvent):
            key = bool(open) and open[-1].key
            start, end = _span(event)
            yield Scalar(start, end, event.value, event.style, _role(open), key)
            _advance(open, event.value)
        elif isinstance(event, yaml.AliasEvent):
            _advance(open, "")
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(open) > _DEEPEST:
                raise yaml.YAMLError
            open.append(_Open(_role(open), isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            open.pop()
            _advance(open, "")


def _span(event: Any) -> tuple[int, int]:
    return event.start_mark.index, event.end_mark.index


def _role(open: list[_Open]) -> Role:
    return open[-1].under if open else Role.STRUCTURE


def _advance(open: list[_Open], value: str) -> None:
    if open and open[-1].mapping:
        top = open[-1]
        roles, otherwise = _BELOW.get(top.role, ({}, top.role))
        top.under = roles.get(value, otherwise) if top.key else top.role
        top.key = not top.key


def _is_keyword(role: Role, key: str) -> bool:
    """Return whether a key is one of the format in its place."""
    if role in (Role.STRUCTURE, Role.ENTRY, Role.CHOICE, Role.COLLECT, Role.NUMBER):
        return key in keys()
    if role is Role.SCHEMA:
        return key in SCHEMA
    return role is Role.VALUE and key.startswith("$") and key in keys()


def _is_choice(role: Role, text: str) -> bool:
    """Return whether a scalar is a keyword of the format in its place."""
    if role is Role.SCHEMA_CHOICE:
        return text in SCHEMA_CHOICES
    if role is Role.COLLECT:
        return text in COLLECTED
    is_setting = text in CHOICES or text in CODES or _SETTING.fullmatch(text) is not None
    return role is Role.CHOICE and is_setting
