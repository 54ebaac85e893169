"""What a place of a document holds: names, values, prose, words of the format."""

import re
from collections.abc import Mapping
from enum import Enum, auto

from gitcfg.check.codes import CODES
from gitcfg.convert.sanitize.words import CHOICES, COLLECTED, SCHEMA, SCHEMA_CHOICES, keys

_SETTING = re.compile(
    r"(?:\d{1,7}(?:\.\d{1,4})?[a-z%]{1,2}){0,4}(?:\d{1,7}(?:\.\d{1,4})?)?|0o[0-7]{1,4}|GC\d{3}"
    r"|\d{4}-\d\d-\d\d(?:[T ][\d:.]{1,15}(?:Z|[-+][\d:]{1,5})?)?"
)
"""What the format's own settings say: numbers, durations, shares, modes, days."""


class Role(Enum):
    """What stands at a place, and how what is below it is read."""

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
    NUMBER = auto()  # keys are the format's, scalars its numbers
    PROSE = auto()


def _parse_table(**said: str) -> dict[str, Role]:
    return {key: Role[role] for role, words in said.items() for key in words.split()}


_ENTRY = _parse_table(
    PROSE="description reason message",
    VALUE="facts with default address text set domain values",
    SCHEMA="schema",
    CEL="where first for require per unique",
    ENTRY="forbid allow",
    RANGES="domain",
    COMMIT="commit",
    RECIPIENT="recipients",
    NUMBER="count max_nodes max_failures version",
    CHOICE="type undeclared state separator format using check macros signatures ratchet timeout settle until"
    " stages mode level retries code",
)
_STRUCTURE = {**_ENTRY, **_parse_table(VALUE="params", NAMED="parameters subsystems files rules")}
_SCHEMA = {
    **_parse_table(
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
    Role.VALUE: (_OPERATIONS, Role.VALUE),
    Role.COLLECT: ({"where": Role.CEL, "join": Role.VALUE}, Role.COLLECT),
    Role.SCHEMA: (_SCHEMA, Role.SCHEMA),
    Role.SCHEMA_NAMED: ({}, Role.SCHEMA),
    Role.SCHEMA_PATTERNS: ({}, Role.SCHEMA),
}


def role_below(role: Role, key: str) -> Role:
    """What stands under a key of a mapping."""
    said, otherwise = _BELOW.get(role, ({}, role))
    return said.get(key, otherwise)


def is_keyword(role: Role, key: str) -> bool:
    """Is a key one of the format's, where it stands?"""
    if role in (Role.STRUCTURE, Role.ENTRY, Role.CHOICE, Role.COLLECT, Role.NUMBER):
        return key in keys()
    if role is Role.SCHEMA:
        return key in SCHEMA
    return role is Role.VALUE and key.startswith("$") and key in keys()


def is_choice(role: Role, text: str) -> bool:
    """Is a scalar a word of the format, where it stands?"""
    if role is Role.SCHEMA_CHOICE:
        return text in SCHEMA_CHOICES
    if role is Role.COLLECT:
        return text in COLLECTED
    is_setting = text in CHOICES or text in CODES or _SETTING.fullmatch(text) is not None
    return role is Role.CHOICE and is_setting
