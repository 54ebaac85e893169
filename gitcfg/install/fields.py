"""Values of the right type and size, out of data that somebody else wrote."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from .outcome import PackageError

T = TypeVar("T")

MAX_WORDS, MAX_WORD, MAX_NAME, MAX_LEVELS = 256, 8192, 256, 200


def parse_mapping(value: object, where: str, limit: int = 10_000) -> dict[str, Any]:
    """Return a JSON object with at most `limit` entries."""
    if not isinstance(value, dict):
        raise PackageError(f"{where} is not an object.")
    if len(value) > limit:
        raise PackageError(f"{where} has more than {limit} entries.")
    return value


def check_depth(value: object, where: str, levels: int = MAX_LEVELS) -> None:
    """Refuse data that nests deeply: it could be read but not be written again."""
    if not isinstance(value, (dict, list)):
        return
    if not levels:
        raise PackageError(f"{where} nests too deeply.")
    for one in value.values() if isinstance(value, dict) else value:
        check_depth(one, where, levels - 1)


def check_keys(value: Mapping[str, Any], where: str, keys: Collection[str]) -> None:
    """Refuse keys that are not in `keys`: they may change what is to be done."""
    unknown = sorted(set(value) - set(keys))
    if unknown:
        raise PackageError(f"{where} has an unknown key {unknown[0]!r}.")


def parse_text(value: object, where: str, limit: int = MAX_NAME) -> str:
    """Return text of at most `limit` characters that UTF-8 can carry, without NUL."""
    if not isinstance(value, str):
        raise PackageError(f"{where} is not text.")
    if len(value) > limit:
        raise PackageError(f"{where} is longer than {limit} characters.")
    if "\0" in value:
        raise PackageError(f"{where} holds a NUL.")
    if not value.isascii():
        _encoded(value, where)
    return value


def _encoded(value: str, where: str) -> bytes:
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise PackageError(f"{where} is not UTF-8.") from error


def parse_word(value: object, where: str, limit: int = MAX_NAME) -> str:
    """Return text that is not empty and has no control characters: a name."""
    found = parse_text(value, where, limit)
    if not found or any(ord(char) < 32 or ord(char) == 127 for char in found):
        raise PackageError(f"{where} is empty or holds a control character.")
    return found


def parse_choice(value: object, where: str, choices: Collection[str]) -> str:
    """Return one of some words."""
    if not isinstance(value, str) or value not in choices:
        raise PackageError(f"{where} is none of {', '.join(choices)}.")
    return value


def parse_hash(value: object, where: str, lengths: Collection[int]) -> str:
    """Return a lower-case hexadecimal hash of one of some lengths."""
    found = parse_text(value, where)
    if len(found) not in lengths or not set(found) <= set("0123456789abcdef"):
        raise PackageError(f"{where} is not a hexadecimal hash.")
    return found


def parse_number(value: object, where: str, most: float) -> float:
    """Return a number from 0 to `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise PackageError(f"{where} is not a number from 0 to {most:g}.")
    return value


def parse_list(
    value: object, where: str, item: Callable[[object, str], T], limit: int = 10_000
) -> tuple[T, ...]:
    """Return a list of at most `limit` items, each read by `item`."""
    if not isinstance(value, list) or len(value) > limit:
        raise PackageError(f"{where} is not a list of at most {limit} items.")
    return tuple(item(one, where) for one in value)


def parse_command(value: object, where: str) -> tuple[str, ...]:
    """Return a command as its arguments; none for null."""
    if value is None:
        return ()
    words = parse_list(value, where, lambda one, place: parse_text(one, place, MAX_WORD), MAX_WORDS)
    if not words or not words[0]:
        raise PackageError(f"{where} names no program.")
    return words
