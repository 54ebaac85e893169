"""Kinds of definitions of which each stands in a file of its own, and is named by it."""

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from gitcfg.git.tree import Entry
from gitcfg.load.document import Document
from gitcfg.load.reading import Reading
from gitcfg.model import Finding, Origin

T = TypeVar("T")


class Kind(msgspec.Struct, Generic[T], frozen=True):
    """How the files of a folder become definitions, and definitions what a pack holds, and back.

    `packed` is the type that a pack holds, `pack` and `unpack` lead there and back.
    """

    folder: str
    noun: str
    names: re.Pattern[str]
    build: Callable[[Reading, Document, str], T]
    empty: Callable[[str, Origin], T]
    packed: Any
    pack: Callable[[T], Any]
    unpack: Callable[[Any, str, Origin], T]

    @property
    def body(self) -> Any:
        """The type of what a pack holds of a file: nothing of one that was misread, with its findings."""
        return tuple[self.packed | None, tuple[Finding, ...], bool]  # type: ignore[name-defined]

    @property
    def schema(self) -> str:
        """The name of the schema that its files must fit."""
        return self.noun.replace(" ", "")


class Piece(msgspec.Struct, Generic[T], frozen=True):
    """What a file was read as: an empty definition if it was not understood (`misread`)."""

    definition: T
    findings: tuple[Finding, ...] = ()
    misread: bool = False


def read(kind: Kind[T], reading: Reading, entry: Entry, name: str) -> Piece[T]:
    """Read the file of a definition. What is wrong with it is in the piece, not in the reading."""
    start = len(reading.findings)
    doc, wrong = reading.read(entry, kind.schema)
    definition = kind.empty(name, Origin(entry.path)) if wrong else kind.build(reading, doc, name)
    if len(reading.findings) == start and not wrong:
        return Piece(definition)
    found = tuple(reading.findings[start:])
    del reading.findings[start:]
    return Piece(definition, found, bool(wrong))
