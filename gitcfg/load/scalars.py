"""What a plain YAML scalar is: the core schema of YAML 1.2."""

import re

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
    """The value of a plain scalar. ValueError: an integer beyond all use."""
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
