"""Documents written from YAML source texts."""

import json
from collections.abc import Iterable, Mapping


def mapping(entries: Mapping[str, str]) -> str:
    """A mapping of source texts, as a source text."""
    return "{" + ", ".join(f"{json.dumps(key)}: {source}" for key, source in entries.items()) + "}"


def sequence(items: Iterable[str]) -> str:
    """A list of source texts, as a source text."""
    return "[" + ", ".join(items) + "]"


def document(entries: Mapping[str, str]) -> str:
    """A file's text: a line a key; empty lists and mappings are left out."""
    return "".join(f"{key}: {source}\n" for key, source in entries.items() if source not in ("[]", "{}"))
