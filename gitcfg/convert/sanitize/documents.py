"""A YAML document with other names and values on the same lines, and one that nobody can parse."""

import re

from gitcfg.convert.sanitize.pseudonyms import Pseudonyms
from gitcfg.convert.sanitize.roles import Role, is_choice, is_keyword
from gitcfg.convert.sanitize.scalars import Scalar, parse_scalars
from gitcfg.convert.sanitize.words import keys
from gitcfg.load import yaml

_COMMENT = re.compile(r"(?:[ \t]+|(?<=[\r\n])|\A)#[^\r\n]*")
_ESCAPED = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_KEY = re.compile(r"(?<![\w$])(\$?[a-z_]+)(?=[\"']?[ \t]*:)")
_LARGEST = 1 << 20
"""What is larger is never parsed (GC101)."""


def sanitize_document(text: str, names: Pseudonyms) -> str:
    """The same document in other words, line for line; comments are gone."""
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
    """Brackets and colons, without comments; names of tags and anchors are names."""
    return names.replace_name(_COMMENT.sub("", text)) if not text.isspace() else text


def _replace_scalar(raw: str, scalar: Scalar, names: Pseudonyms) -> str:
    if scalar.style in ("|", ">"):
        head, line, rest = raw.partition("\n")
        return _COMMENT.sub("", head) + line + replace_text(rest, scalar, names)
    if "\n" in raw or "\r" in raw:
        return _replace_folded(raw, scalar, names)
    if scalar.style == '"':
        return f'"{"".join(map(_escape, replace_text(scalar.value, scalar, names)))}"'
    if scalar.style == "'":
        return "'" + replace_text(scalar.value, scalar, names).replace("'", "''") + "'"
    return replace_text(raw, scalar, names)


def _replace_folded(raw: str, scalar: Scalar, names: Pseudonyms) -> str:
    """A scalar whose text is folded: what is between escapes is replaced, so that lines stay."""
    if scalar.style != '"':
        return replace_text(raw, scalar, names)
    parts, end = [], 0
    for found in _ESCAPED.finditer(raw):
        parts += [replace_text(raw[end : found.start()], scalar, names), found[0]]
        end = found.end()
    return "".join([*parts, replace_text(raw[end:], scalar, names)])


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    number = ord(character)
    return (
        f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
    )


def replace_text(text: str, scalar: Scalar, names: Pseudonyms) -> str:
    """What stands in a scalar's place."""
    if scalar.key:
        return _replace_key(text, scalar.role, names)
    if is_choice(scalar.role, text):
        return text
    return _BY_ROLE.get(scalar.role, Pseudonyms.replace_name)(names, text)


def _replace_key(text: str, role: Role, names: Pseudonyms) -> str:
    if is_keyword(role, text):
        return text
    return names.replace_regex(text) if role is Role.SCHEMA_PATTERNS else names.replace_name(text)


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


def _replace_broken(text: str, names: Pseudonyms) -> str:
    """What cannot be parsed, word for word: keys of the format stay where a colon follows."""
    parts, end = [], 0
    for found in re.finditer(rf"{_KEY.pattern}|{_ESCAPED.pattern}", text, re.DOTALL):
        if found[1] and found[1] not in keys():
            continue
        parts += [names.replace_value(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, names.replace_value(text[end:])])
