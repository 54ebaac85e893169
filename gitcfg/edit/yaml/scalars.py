"""Values as YAML text on one line, which may stand in a block as well as in brackets."""

import json
import re
from typing import Any

from gitcfg.edit.yaml.tree import Meaning, Raw, parse_spots
from gitcfg.load import document
from gitcfg.load.yaml import resolve
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

_PLAIN = re.compile(r"[A-Za-z0-9_/.$(](?:[A-Za-z0-9_ /.@+$()=|&%;<>~^-]*[A-Za-z0-9_/.@+$)%;])?")
_OTHERWISE = re.compile(r"(?i:y|n|yes|no|on|off)|[-+]?[0-9][0-9_:.,eE+-]*|=")
"""What readers of YAML 1.1 take for something else than text."""
_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def to_yaml(meaning: Meaning) -> str:
    """Return a value's text on one line."""
    if isinstance(meaning, Raw):
        return meaning.text or "null"
    if isinstance(meaning, dict):
        return "{" + ", ".join(f"{to_yaml(key)}: {to_yaml(value)}" for key, value in meaning.items()) + "}"
    if isinstance(meaning, list):
        return "[" + ", ".join(map(to_yaml, meaning)) + "]"
    return _text(meaning)


def may_be_plain(text: str) -> bool:
    """Return whether a text may stand without quotes, be it text or not."""
    return _PLAIN.fullmatch(text) is not None


def _text(text: str) -> str:
    if may_be_plain(text) and not _OTHERWISE.fullmatch(text) and isinstance(resolve(text), str):
        return text
    return quote(text)


def quote(text: str) -> str:
    """Return text in double quotes."""
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def quote_like(first: str, text: str) -> str:
    """Return text in the quotes that there were; nothing if there were none."""
    if first == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return quote(text) if first == '"' else ""


def from_json(value: Any) -> Meaning:
    """Return what a plain value of JSON means."""
    if isinstance(value, dict):
        return {key: from_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [from_json(inner) for inner in value]
    return value if isinstance(value, str) else Raw(json.dumps(value))


def to_plain(meaning: Meaning) -> Any:
    """Return what our loader makes of a value."""
    if isinstance(meaning, Raw):
        return resolve(meaning.text) if meaning.text else None
    if isinstance(meaning, dict):
        return {key: to_plain(inner) for key, inner in meaning.items()}
    return [to_plain(inner) for inner in meaning] if isinstance(meaning, list) else meaning


def parse_value(source: str, what: str) -> Meaning:
    """Return what YAML text means that is given as a value. Raise GitcfgError if it is no value."""
    doc = document.parse(what, source.encode("utf-8", "surrogateescape"))
    if doc.findings:
        finding = doc.findings[0]
        raise GitcfgError(
            f"{shown(source)} is no value for {shown(what)}: {finding.message}",
            "Values are YAML, as they would stand in the file; quote text that holds `: ` or ` #`.",
        )
    found = parse_spots(source.removeprefix("\ufeff"))
    return Raw("null") if found is None else found.meaning
