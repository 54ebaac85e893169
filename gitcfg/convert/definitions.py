"""Definitions as imports write them: only what says something, and parameters in files by first words."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

DEFAULTS = {"type": "string", "macros": "condor"}
"""What a file of parameters says for all of them."""

MANY = 60  # more parameters than this are split by their first word
FEWEST = 5  # ... into files that hold at least this many


def without_empty(**entries: object) -> dict[str, object]:
    """The keys of a definition that say something."""
    return {key: value for key, value in entries.items() if value not in ("", [], {}, False, None)}


def parameter_files(declared: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Paths and contents: one file, or one a first word of names if they are many."""
    if len(declared) <= MANY:
        return {"parameters/condor.yaml": _content(declared)} if declared else {}
    words: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, body in declared.items():
        words[_word(name)][name] = body
    result: dict[str, dict[str, Any]] = defaultdict(dict)
    for word, part in words.items():
        result[word if len(part) >= FEWEST else "other"].update(part)
    return {
        f"parameters/{word}.yaml": _content(dict(sorted(result[word].items()))) for word in sorted(result)
    }


def _word(name: str) -> str:
    return re.split(r"[^a-z]", name.lower(), maxsplit=1)[0][:40] or "other"


def _content(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {"defaults": DEFAULTS, "parameters": dict(declared)}
