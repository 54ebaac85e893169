"""Requests and verdicts as plain data: what goes into a parser's module and comes out."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Meant(NamedTuple):
    """What a text was written from: values by parameter, and the separators of those that are lists."""

    values: Mapping[str, Any]
    separators: Mapping[str, str | None]


class Said(NamedTuple):
    """One thing that a parser has against a text; see `gitcfg.check.target_parsers.Verdict`."""

    reason: str
    line: int = 0
    params: tuple[str, ...] = ()
    hint: str = ""
    grave: bool = True


def otherwise(name: str, read: object, value: object) -> Said:
    """Return a parameter that is not read as it was meant."""
    return Said(f"is read with {name} as {quoted(read)}, where {quoted(value)} was meant", params=(name,))


def left_out(name: str) -> Said:
    """Return a parameter that is not read at all."""
    return Said(f"is read without {name}, which was meant to be in it", params=(name,))


def not_meant(name: str) -> Said:
    """Something that is read and was never written."""
    return Said(f"is read with {quoted(name)}, which was not meant to be in it")


def quoted(value: object, most: int = 60) -> str:
    """Return a value as a message quotes it: on one line, and not endless."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."
