"""What is asked of definitions: new, modified, renamed or deleted; from options, or as JSON, a line each."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.edit.changes import Given
from gitcfg.edit.written import from_json
from gitcfg.model import GitcfgError


class Action(StrEnum):
    """What is to become of a definition."""

    NEW = "new"
    MODIFY = "modify"
    DELETE = "delete"
    RENAME = "rename"


class Order(msgspec.Struct, frozen=True):
    """One edit of one definition.

    `add` and `remove` are about lists (`include`), by key; what is added comes to the position `at` (0 is
    highest), else to the end. `put` and `take` are about entries of mappings (`params`), `fields` and
    `drop` about all other keys. `place` is the file or folder of what is new, `to` the name that what is
    renamed gets.
    """

    deed: Action
    kind: str
    name: str
    place: str = ""
    at: int | None = None
    add: Mapping[str, tuple[Given, ...]] = {}
    remove: Mapping[str, tuple[Given, ...]] = {}
    put: Mapping[str, Mapping[str, Given]] = {}
    take: Mapping[str, tuple[str, ...]] = {}
    fields: Mapping[str, Given] = {}
    drop: tuple[str, ...] = ()
    to: str | None = None


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    do: Action
    kind: str
    name: str
    place: str = msgspec.field(default="", name="in")
    at: int | None = None
    add: dict[str, list[Any]] = {}
    remove: dict[str, list[Any]] = {}
    put: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict, name="set")
    take: dict[str, list[str]] = msgspec.field(default_factory=dict, name="unset")
    fields: dict[str, Any] = {}
    drop: list[str] = []
    to: str | None = None


def parse_orders(lines: Iterable[bytes]) -> list[Order]:
    """Orders out of JSON, one a line; empty lines are passed over. GitcfgError: a line is none."""
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(_order(msgspec.json.decode(line, type=_Line)))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                hint = 'Write {"do": "modify", "kind": "feature", "name": "X", "add": {"include": ["Y"]}}.'
                raise GitcfgError(f"Line {number} is no edit: {error}.", hint) from None
    return found


def _order(line: _Line) -> Order:
    return Order(
        line.do,
        line.kind,
        line.name,
        line.place,
        line.at,
        _lists(line.add),
        _lists(line.remove),
        {
            key: {name: Given(from_json(value)) for name, value in all.items()}
            for key, all in line.put.items()
        },
        {key: tuple(names) for key, names in line.take.items()},
        {key: Given(from_json(value)) for key, value in line.fields.items()},
        tuple(line.drop),
        line.to,
    )


def _lists(found: Mapping[str, Iterable[Any]]) -> dict[str, tuple[Given, ...]]:
    return {key: tuple(Given(from_json(value)) for value in values) for key, values in found.items()}
