"""Kinds of which many definitions stand in a file, and one such file."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from gitcfg.git.tree import Entry
from gitcfg.load.document import Document
from gitcfg.load.marks import Pair, pairs, place
from gitcfg.load.reading import Reading
from gitcfg.model import Finding, Origin


class Named(Protocol):
    """What every definition has."""

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> Origin: ...


T = TypeVar("T", bound=Named)


class Said(msgspec.Struct, frozen=True, gc=False):
    """What a file says of one name: `given` as a value, and by key the nodes."""

    name: str
    origin: Origin
    given: Mapping[str, Any]
    nodes: Mapping[str, Pair]


class SheetKind(msgspec.Struct, Generic[T], frozen=True):
    """How what stands under a folder's own name in its files becomes definitions.

    `sheet` is the type of a file of them. `spoiling` are the keys beside the definitions without which
    none can be understood. `family` is another name that only one of them may have, if it has any.
    """

    folder: str
    noun: str
    names: re.Pattern[str]
    build: Callable[[Reading, Document, Said], T]
    empty: Callable[[str, Origin], T]
    sheet: Any
    spoiling: frozenset[str] = frozenset()
    family: Callable[[T], str | None] = lambda definition: None


class Declared(msgspec.Struct, Generic[T], frozen=True, array_like=True):
    """A definition in a file, empty if it was not understood (`misread`)."""

    definition: T
    findings: tuple[Finding, ...]
    misread: bool


class Sheet(msgspec.Struct, Generic[T], frozen=True, array_like=True):
    """A file's definitions; `misread`: not even their names are known."""

    declared: tuple[Declared[T], ...]
    findings: tuple[Finding, ...]
    misread: bool


def read(kind: SheetKind[T], reading: Reading, entry: Entry) -> Sheet[T]:
    """Read a file. What is wrong with it is in the sheet, not in the reading."""
    own = Reading(reading.tree)
    doc, wrong = own.read(entry, kind.folder)
    found = tuple(own.findings)
    if not isinstance(doc.value, dict) or not isinstance(doc.value.get(kind.folder, {}), dict):
        return Sheet((), found, True)
    if kind.folder not in doc.value:
        return Sheet((), found, False)
    spoilt = None in wrong or not kind.spoiling.isdisjoint(wrong)
    nodes = zip(doc.top[kind.folder].value, doc.value[kind.folder].items(), strict=True)
    declared = []
    for (key, node), (name, given) in nodes:
        said = Said(name, place(entry.path, key), given or {}, pairs(node))
        declared.append(_declared(kind, own, doc, said, spoilt or name in wrong))
    return Sheet(tuple(declared), found, False)


def _declared(kind: SheetKind[T], reading: Reading, doc: Document, said: Said, wrong: bool) -> Declared[T]:
    if wrong:
        return Declared(kind.empty(said.name, said.origin), (), True)
    reading.findings.clear()
    return Declared(kind.build(reading, doc, said), tuple(reading.findings), False)
