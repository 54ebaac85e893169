"""Definitions as imports write them: without empty keys, values typed, parameters in several files."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

DEFAULTS = {"type": "string", "macros": "condor"}
"""The `defaults:` of files of parameters."""
MANY = 60  # more parameters than this are split by their first word
FEWEST = 5  # ... into files that hold at least this many
MACRO = re.compile(r"\$\([A-Za-z_][\w.]*\)")
_ITEM = re.compile(r'(?:[^\s"\'()\[\]{}]|\$\([\w.]+\))+|"[^"\\]*"')
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def without_empty(**entries: object) -> dict[str, object]:
    """Return the entries of a definition whose values are not empty."""
    return {key: value for key, value in entries.items() if value not in ("", [], {}, False, None)}


def parameter_files(declared: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the contents of files by path: one file, or one for each first word of many names."""
    if len(declared) <= MANY:
        return {"parameters/condor.yaml": _content(declared)} if declared else {}
    words: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, body in declared.items():
        word = re.split(r"[^a-z]", name.lower(), maxsplit=1)[0][:40] or "other"
        words[word][name] = body
    result: dict[str, dict[str, Any]] = defaultdict(dict)
    for word, part in words.items():
        result[word if len(part) >= FEWEST else "other"].update(part)
    return {
        f"parameters/{word}.yaml": _content(dict(sorted(result[word].items()))) for word in sorted(result)
    }


def _content(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {"defaults": DEFAULTS, "parameters": dict(declared)}


def _integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def _number(text: str) -> bool:
    """Return whether a text is a number as YAML would write it."""
    return _integer(text) or (
        re.fullmatch(r"-?[0-9]+\.[0-9]+", text) is not None and repr(float(text)) == text
    )


LITERALS: dict[str, Callable[[str], bool]] = {
    "integer": _integer,
    "number": _number,
    "boolean": lambda text: text.lower() in ("true", "false"),
}


def convert_text(kind: str, text: str) -> str | int | float | bool | list[str]:
    """Return the value of a type that a text stands for; a text that fits no better stays one."""
    if kind == "list":
        return _items(text)
    if kind not in LITERALS or not LITERALS[kind](text):
        return text
    if kind == "boolean":
        return text.lower() == "true"
    return int(text) if _integer(text) else float(text)


def _items(text: str) -> str | list[str]:
    """Return several items as a list where they are certain, else the text, to be split later."""
    items = [item.strip() for item in text.split(",")]
    return items if len(items) > 1 and all(map(_ITEM.fullmatch, items)) else text
