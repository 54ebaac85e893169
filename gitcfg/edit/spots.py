"""Where a value stands in a YAML text, and what it means: keys, values and items with their ends."""

from enum import Enum
from typing import Any

import msgspec


class Raw(msgspec.Struct, frozen=True):
    """A plain scalar that is not text, as it is written: `017` and `17` differ where text is wanted."""

    text: str


Meaning = Any
"""What a text says: text, Raw, a list, or a mapping, whose keys are in order."""


def is_nothing(meaning: Meaning) -> bool:
    """Is it null, or not even that?"""
    return meaning is None or (isinstance(meaning, Raw) and meaning.text in ("", "null", "~", "Null", "NULL"))


def is_same(one: Meaning, other: Meaning) -> bool:
    """Do they say the same, keys in the same order?"""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and bool(one == other)


class Shape(Enum):
    """How a value is written."""

    SCALAR = "scalar"
    BLOCK_SCALAR = "block scalar"
    MAPPING = "mapping"
    LIST = "list"


class Spot(msgspec.Struct):
    """A value: where it begins and ends, and what it means. `flow`: in brackets or braces."""

    start: int
    end: int
    shape: Shape
    flow: bool = False
    scalar: str | Raw = ""
    entries: list["Entry"] = []

    @property
    def meaning(self) -> Meaning:
        """What it says."""
        if self.shape is Shape.MAPPING:
            return {entry.key: entry.value.meaning for entry in self.entries}
        if self.shape is Shape.LIST:
            return [entry.value.meaning for entry in self.entries]
        return self.scalar

    def place(self, step: str | int) -> int | None:
        """Which entry a step of a path leads to."""
        if self.shape is Shape.MAPPING:
            return next((i for i, entry in enumerate(self.entries) if entry.key == step), None)
        known = self.shape is Shape.LIST and isinstance(step, int) and 0 <= step < len(self.entries)
        return step if known and isinstance(step, int) else None


class Entry(msgspec.Struct):
    """A key with its value, or an item. It starts at its key, at its dash, or in brackets at itself."""

    start: int
    value: Spot
    key: str | None = None
    key_end: int = 0

    @property
    def end(self) -> int:
        """Where its value ends."""
        return self.value.end
