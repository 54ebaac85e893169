"""Texts as YAML writes values of a type."""

import re
from collections.abc import Callable

MACRO = re.compile(r"\$\([A-Za-z_][\w.]*\)")
_ITEM = re.compile(r'(?:[^\s"\'()\[\]{}]|\$\([\w.]+\))+|"[^"\\]*"')
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def _integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def _number(text: str) -> bool:
    """Is it a number that is written as we would write it?"""
    return _integer(text) or (
        re.fullmatch(r"-?[0-9]+\.[0-9]+", text) is not None and repr(float(text)) == text
    )


def _boolean(text: str) -> bool:
    return text.lower() in ("true", "false")


LITERALS: dict[str, Callable[[str], bool]] = {"integer": _integer, "number": _number, "boolean": _boolean}


def convert_text(kind: str, text: str) -> str | int | float | bool | list[str]:
    """A text as YAML writes it for a type."""
    if kind == "list":
        return _items(text)
    if kind not in LITERALS or not LITERALS[kind](text):
        return text
    if kind == "boolean":
        return text.lower() == "true"
    return int(text) if _integer(text) else float(text)


def _items(text: str) -> str | list[str]:
    """Several items as a list, where it is certain which they are; else the text, to be split later."""
    items = [item.strip() for item in text.split(",")]
    return items if len(items) > 1 and all(map(_ITEM.fullmatch, items)) else text
