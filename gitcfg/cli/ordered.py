"""Orders out of what was said on a command line, and the lines of a file of them."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from gitcfg.cli.editing import OPTIONS, Option, Part, Texts
from gitcfg.edit.orders import Order
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.scalars import parse_value
from gitcfg.model import GitcfgError
from gitcfg.model.text import safe


def fill_order(order: Order, description: str | None, said: Mapping[str, Texts]) -> Order:
    """The order with all that the options of the table say. GitcfgError: a value is no YAML."""
    parts: dict[Part, list[tuple[Option, list[str]]]] = {part: [] for part in Part}
    for option in OPTIONS:
        if texts := said.get(option.variable):
            parts[option.part].append((option, texts))
    return msgspec.structs.replace(
        order,
        add={option.key: _given(texts, option.key) for option, texts in parts[Part.ADD]},
        remove={option.key: _given(texts, option.key) for option, texts in parts[Part.REMOVE]},
        put={option.key: _pairs(texts, option.name) for option, texts in parts[Part.PUT]},
        take={option.key: tuple(texts) for option, texts in parts[Part.TAKE]},
        fields=_fields(description, parts[Part.FIELDS]),
        drop=tuple(text for _, texts in parts[Part.DROP] for text in texts),
    )


def _fields(description: str | None, others: Iterable[tuple[Option, list[str]]]) -> dict[str, Given]:
    """Whole keys with their values; a description is text, whatever it looks like."""
    found = {} if description is None else {"description": Given(description)}
    for option, texts in others:
        found |= _pairs(texts, option.name)
    return found


def _given(texts: Iterable[str], what: str) -> tuple[Given, ...]:
    """Values as they were typed. GitcfgError: one is no YAML."""
    return tuple(Given(parse_value(text, what), text) for text in texts)


def _pairs(texts: Iterable[str], option: str) -> dict[str, Given]:
    """`NAME=VALUE` as they were typed. GitcfgError: one has no `=`."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise GitcfgError(
                f"{option} takes NAME=VALUE, not {safe(text)}.", "VALUE is YAML; `null` is one."
            )
        found[name] = _given((value,), name)[0]
    return found


def read_lines(name: str) -> list[bytes]:
    """The lines of a file; - is stdin."""
    return sys.stdin.buffer.readlines() if name == "-" else Path(name).read_bytes().splitlines()
