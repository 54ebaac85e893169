"""What a written value means for a parameter's type."""

import json
import re
from typing import Any

from tests.reference.yaml12 import Plain, Raw, value

_WORDS_OF_TRUTH = {"true": True, "false": False}


class Misfit(Exception):
    """The value or operation does not fit the type: what comes of it, the contract does not say."""


def typed(raw: Raw, declared: dict[str, Raw]) -> Any:
    """The value as JSON, for a parameter so declared. Misfit: it does not fit the type."""
    kind = declared.get("type") or ("list" if "separator" in declared else None)
    if kind is None:
        return value(raw)
    if kind == "list":
        return items(raw, declared)
    if kind == "map":
        return _only(value(raw), dict)
    return _scalar(raw, kind, "macros" in declared)


def _scalar(raw: Raw, kind: str, macros: bool) -> Any:
    text = _text(raw)
    if kind in ("string", "expression", "path") or (macros and "$(" in text):
        return text
    if kind == "boolean":
        return _only(_WORDS_OF_TRUTH.get(text.lower()), bool)
    number = raw.value if isinstance(raw, Plain) else _number(text)
    if type(number) is int or (kind == "number" and type(number) is float):
        return number
    raise Misfit


def _number(text: str) -> Any:
    """Text that says a number."""
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    return float(text) if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text) else None


def items(raw: Raw, declared: dict[str, Raw]) -> list[Any]:
    """A list: YAML's own, text that the separator splits, or one item."""
    if isinstance(raw, list):
        return [value(item) for item in raw]
    if isinstance(raw, str):
        return [part for part in map(str.strip, _split(raw, declared.get("separator"))) if part]
    if isinstance(raw, Plain):
        return [raw.value]
    raise Misfit


def _split(text: str, separator: str | None) -> list[str]:
    """Pieces between separators that stand outside quotes and brackets."""
    if separator is None:
        return [text]
    splits = "," if separator == "comma" else ", \t"
    pieces, quote, depth = [""], "", 0
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth = max(0, depth + (character in "([{") - (character in ")]}"))
            if character in splits and not depth:
                pieces.append("")
                continue
        pieces[-1] += character
    return pieces


def distinct(values: list[Any]) -> list[Any]:
    """Of items that are equal as JSON the first."""
    return [one for n, one in enumerate(values) if key(one) not in map(key, values[:n])]


def key(item: Any) -> str:
    """A text that is the same for values that are equal as JSON."""
    return json.dumps(item, sort_keys=True)


def _text(raw: Raw) -> str:
    if isinstance(raw, Plain):
        return raw.text
    text: str = _only(raw, str)
    return text


def _only(what: Any, kind: type) -> Any:
    if not isinstance(what, kind):
        raise Misfit
    return what
