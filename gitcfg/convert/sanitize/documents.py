"""A YAML document with other names and values on the same lines, and one that nobody can parse."""

import re

from gitcfg.convert.sanitize.pseudonyms import Pseudonyms
from gitcfg.convert.sanitize.roles import Role, is_choice, is_word
from gitcfg.convert.sanitize.scalars import Scalar, scalars
from gitcfg.convert.sanitize.words import keys
from gitcfg.load import yaml

_COMMENT = re.compile(r"(?:[ \t]+|(?<=[\r\n])|\A)#[^\r\n]*")
_ESCAPED = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_KEY = re.compile(r"(?<![\w$])(\$?[a-z_]+)(?=[\"']?[ \t]*:)")
_LARGEST = 1 << 20
"""What is larger is never parsed (GC101)."""


def sanitized(text: str, names: Pseudonyms) -> str:
    """The same document in other words, line for line; comments are gone."""
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    try:
        found = list(scalars(text)) if len(text) <= _LARGEST else None
    except (yaml.YAMLError, UnicodeError):
        found = None
    return mark + (_broken(text, names) if found is None else _replaced(text, found, names))


def _replaced(text: str, found: list[Scalar], names: Pseudonyms) -> str:
    parts, end = [], 0
    for scalar in found:
        parts += [
            _between(text[end : scalar.start], names),
            _written(text[scalar.start : scalar.end], scalar, names),
        ]
        end = scalar.end
    return "".join([*parts, _between(text[end:], names)])


def _between(text: str, names: Pseudonyms) -> str:
    """Brackets and colons, without comments; names of tags and anchors are names."""
    return names.name(_COMMENT.sub("", text)) if not text.isspace() else text


def _written(raw: str, scalar: Scalar, names: Pseudonyms) -> str:
    if scalar.style in ("|", ">"):
        head, line, rest = raw.partition("\n")
        return _COMMENT.sub("", head) + line + other(rest, scalar, names)
    if "\n" in raw or "\r" in raw:
        return _on_lines(raw, scalar, names)
    if scalar.style == '"':
        return f'"{"".join(map(_escape, other(scalar.value, scalar, names)))}"'
    if scalar.style == "'":
        return "'" + other(scalar.value, scalar, names).replace("'", "''") + "'"
    return other(raw, scalar, names)


def _on_lines(raw: str, scalar: Scalar, names: Pseudonyms) -> str:
    """A scalar whose text is folded: what is between escapes is replaced, so that lines stay."""
    if scalar.style != '"':
        return other(raw, scalar, names)
    parts, end = [], 0
    for found in _ESCAPED.finditer(raw):
        parts += [other(raw[end : found.start()], scalar, names), found[0]]
        end = found.end()
    return "".join([*parts, other(raw[end:], scalar, names)])


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    number = ord(character)
    return (
        f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
    )


def other(text: str, scalar: Scalar, names: Pseudonyms) -> str:
    """What stands in a scalar's place."""
    if scalar.key:
        return _key(text, scalar.role, names)
    if is_choice(scalar.role, text):
        return text
    return _BY_ROLE.get(scalar.role, Pseudonyms.name)(names, text)


def _key(text: str, role: Role, names: Pseudonyms) -> str:
    if is_word(role, text):
        return text
    return names.regex(text) if role is Role.SCHEMA_PATTERNS else names.name(text)


_BY_ROLE = {
    Role.VALUE: Pseudonyms.value,
    Role.SCHEMA: Pseudonyms.value,
    Role.PATTERN: Pseudonyms.regex,
    Role.RANGES: Pseudonyms.range,
    Role.CEL: Pseudonyms.cel,
    Role.COMMIT: Pseudonyms.commit,
    Role.RECIPIENT: Pseudonyms.recipient,
    Role.PROSE: Pseudonyms.prose,
    Role.NUMBER: Pseudonyms.number,
}


def _broken(text: str, names: Pseudonyms) -> str:
    """What cannot be parsed, word for word: keys of the format stay where a colon follows."""
    parts, end = [], 0
    for found in re.finditer(rf"{_KEY.pattern}|{_ESCAPED.pattern}", text, re.DOTALL):
        if found[1] and found[1] not in keys():
            continue
        parts += [names.value(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, names.value(text[end:])])
