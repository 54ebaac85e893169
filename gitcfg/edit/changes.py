"""What can be changed in a YAML text: each kind of change as data."""

import msgspec

from gitcfg.edit.spots import Meaning

Path = tuple[str | int, ...]


class Given(msgspec.Struct, frozen=True):
    """A value that was given, and how it was written, if it was YAML."""

    meaning: Meaning
    source: str | None = None


class Set(msgspec.Struct, frozen=True, tag=True):
    """The value at a path; mappings on the way there are made. `source` is how it is to be written.

    A key that is new stands behind the last of those that come before it in `order`, else at the end.
    """

    path: Path
    value: Meaning
    source: str | None = None
    order: tuple[str, ...] = ()


class Delete(msgspec.Struct, frozen=True, tag=True):
    """A key with its value is gone, or an item."""

    path: Path


class Insert(msgspec.Struct, frozen=True, tag=True):
    """An item comes into the list at a path, at a position (0 is highest); the list is made."""

    path: Path
    at: int
    value: Meaning
    source: str | None = None
    order: tuple[str, ...] = ()


class Move(msgspec.Struct, frozen=True, tag=True):
    """An item of the list at a path goes from one position to another."""

    path: Path
    start: int
    to: int


class Rename(msgspec.Struct, frozen=True, tag=True):
    """A key has another name and keeps its value and its place."""

    path: Path
    name: str


Change = Set | Delete | Insert | Move | Rename
