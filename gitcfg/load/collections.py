"""Definitions by name, each from a file of its own, read when they are needed."""

import re
from abc import abstractmethod
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, Set, ValuesView
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.cache import Pack, Packs
from gitcfg.load.context import Reading, Register
from gitcfg.load.document import Document, Pair, pairs, place
from gitcfg.model import Finding, Origin, Settings
from gitcfg.sandbox import progress

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


def read_kind(kind: Kind[T], reading: Reading, entry: Entry, name: str) -> Piece[T]:
    """Read the file of a definition. What is wrong with it is in the piece, not in the reading."""
    start = len(reading.findings)
    doc, wrong = reading.read(entry, kind.schema)
    definition = kind.empty(name, Origin(entry.path)) if wrong else kind.build(reading, doc, name)
    if len(reading.findings) == start and not wrong:
        return Piece(definition)
    found = tuple(reading.findings[start:])
    del reading.findings[start:]
    return Piece(definition, found, bool(wrong))


# Which definitions a folder holds, known from the names of its files alone (GC101, GC103).


class Listing(msgspec.Struct, frozen=True):
    """The files of definitions by name, in order of path, and what is wrong with paths, by path."""

    entries: Mapping[str, Entry]
    findings: Mapping[str, tuple[Finding, ...]]


def listed(reading: Reading, kind: Kind[Any]) -> Listing:
    """Return the listing of a kind's folder; the reading stays as it was."""
    progress.note("listing", f"{kind.folder}/")
    sound = _sound(list(reading.tree.entries(kind.folder)), kind)
    return Listing(sound, {}) if sound is not None else _careful(reading, kind)


def _sound(entries: Sequence[Entry], kind: Kind[Any]) -> Mapping[str, Entry] | None:
    """Files by name, if nothing is wrong with any of them: a third of the time, and all commands wait."""
    found = {entry.path.rpartition("/")[2][: -len(".yaml")]: entry for entry in entries}
    sound = (
        len(found) == len(entries) == len(set(map(str.casefold, found)))
        and {entry.kind for entry in entries} <= {EntryKind.FILE}
        and all(entry.path.endswith(".yaml") for entry in entries)
        and all(map(kind.names.fullmatch, found))
    )
    return found if sound else None


def _careful(reading: Reading, kind: Kind[Any]) -> Listing:
    own = Reading(reading.tree)
    entries: dict[str, Entry] = {}
    wrong: dict[str, tuple[Finding, ...]] = {}
    register = Register(own, kind.noun, kind.names)
    for entry in own.files(kind.folder):
        name = entry.path.rpartition("/")[2][: -len(".yaml")]
        if register.admit(name, Origin(entry.path)):
            entries[name] = entry
    for finding in own.findings:
        path = finding.origins[0].file
        wrong[path] = (*wrong.get(path, ()), finding)
    return Listing(entries, wrong)


# The definitions of a kind by name, each read when it is first asked for.

_FEW = 64  # files that are read without keeping what they say


class Shelf(Mapping[str, T]):
    """Names are known from the tree's paths; a definition is read, or unpacked, when it is needed.

    In order of path. When all have been read, the pack is kept if something was not in it.
    """

    def __init__(self, tree: Tree, kind: Kind[T], packs: Packs) -> None:
        self.kind = kind
        self._reading = Reading(tree)
        self._packs = packs
        self._known: dict[str, T] = {}
        self._pieces: dict[str, Piece[T]] = {}
        self._fresh: list[str] = []
        self._whole = False

    @cached_property
    def listing(self) -> Listing:
        """What is known without reading anything."""
        return listed(self._reading, self.kind)

    @cached_property
    def _pack(self) -> Pack:
        return self._packs.of(self.kind.folder, self.listing.entries.values())

    @cached_property
    def _decoder(self) -> msgspec.msgpack.Decoder[Any]:
        return msgspec.msgpack.Decoder(self.kind.body)

    def __getitem__(self, name: str) -> T:
        known = self._known
        return known[name] if name in known else self._read(name, self.listing.entries[name])

    def __contains__(self, name: object) -> bool:
        return name in self.listing.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.listing.entries)

    def __len__(self) -> int:
        return len(self.listing.entries)

    def values(self) -> ValuesView[T]:
        return self._all().values()

    def items(self) -> ItemsView[str, T]:
        return self._all().items()

    def holding(self, word: bytes) -> list[str]:
        """The definitions in whose packed bodies a word stands; those that are not packed are read for it."""
        there = {name: self._holds(name, entry, word) for name, entry in self.listing.entries.items()}
        if sum(said is None for said in there.values()) > _FEW:
            self._all()  # so that the pack is kept
        return [name for name, said in there.items() if said is not False]

    def _holds(self, name: str, entry: Entry, word: bytes) -> bool | None:
        unknown = name in self._known or self._packs.keeper is None
        return None if unknown else self._pack.holds(entry, word)

    def findings(self) -> tuple[Finding, ...]:
        """Return what is wrong with names and definitions, in order of path."""
        self._all()
        return self.so_far()

    def so_far(self) -> tuple[Finding, ...]:
        """Return what is wrong with names, and with the definitions that have been read until now."""
        entries = self.listing.entries
        found = {entries[name].path: piece.findings for name, piece in self._pieces.items()}
        places = self.listing.findings
        paths = sorted(places.keys() | found.keys())
        return tuple(one for path in paths for one in (*places.get(path, ()), *found.get(path, ())))

    def misread(self, name: str) -> bool:
        """Return whether a definition of this name could not be read."""
        if name not in self:
            return False
        self[name]
        return name in self._pieces and self._pieces[name].misread

    def all_misread(self) -> Iterator[str]:
        """Yield the definitions that could not be understood."""
        self._all()
        return (name for name, piece in self._pieces.items() if piece.misread)

    def _all(self) -> dict[str, T]:
        """Return all definitions in order of path, whatever the order in which they were read."""
        if not self._whole:
            known, entries = self._known, self.listing.entries
            try:
                self._known = {
                    name: known[name] if name in known else self._read(name, entry)
                    for name, entry in entries.items()
                }
                self._whole = True
            finally:  # where time is up, too: the next try goes on from there
                self._pack.keep([(entries[name], name) for name in self._fresh], self._packed)
                self._fresh = []
        return self._known

    def _read(self, name: str, entry: Entry) -> T:
        body = self._pack.get(entry, self._decoder) if self._packs.keeper is not None else None
        if body is not None:
            piece = self._unpacked(name, entry, *body)
        else:
            piece = read_kind(self.kind, self._reading, entry, name)
        if piece.findings or piece.misread:
            self._pieces[name] = piece
        self._known[name] = piece.definition
        if body is None:
            self._fresh.append(name)
        return piece.definition

    def _packed(self, name: str) -> tuple[Any, tuple[Finding, ...], bool]:
        piece = self._pieces.get(name, Piece(self._known[name]))
        said = None if piece.misread else self.kind.pack(piece.definition)
        return said, piece.findings, piece.misread

    def _unpacked(
        self, name: str, entry: Entry, said: Any, findings: tuple[Finding, ...], misread: bool
    ) -> Piece[T]:
        origin = Origin(entry.path)
        definition = self.kind.empty(name, origin) if said is None else self.kind.unpack(said, name, origin)
        return Piece(definition, findings, misread)


def taken(reading: Reading, kind: Kind[T]) -> dict[str, T]:
    """Return all definitions of a kind; what is wrong with them goes into the reading."""
    shelf = Shelf(reading.tree, kind, Packs(None, Settings(Origin(""))))
    reading.findings += shelf.findings()
    for name in shelf.all_misread():
        reading.misread(kind.folder, name)
    return dict(shelf)


# Kinds of which many definitions stand in a file, and one such file.


class Named(Protocol):
    """What every definition has."""

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> Origin: ...


N = TypeVar("N", bound=Named)


class Said(msgspec.Struct, frozen=True, gc=False):
    """What a file says of one name: `given` as a value, and by key the nodes."""

    name: str
    origin: Origin
    given: Mapping[str, Any]
    nodes: Mapping[str, Pair]


class SheetKind(msgspec.Struct, Generic[N], frozen=True):
    """How what stands under a folder's own name in its files becomes definitions.

    `sheet` is the type of a file of them. `spoiling` are the keys beside the definitions without which
    none can be understood. `family` is another name that only one of them may have, if it has any.
    """

    folder: str
    noun: str
    names: re.Pattern[str]
    build: Callable[[Reading, Document, Said], N]
    empty: Callable[[str, Origin], N]
    sheet: Any
    spoiling: frozenset[str] = frozenset()
    family: Callable[[N], str | None] = lambda definition: None


class Declared(msgspec.Struct, Generic[N], frozen=True, array_like=True):
    """A definition in a file, empty if it was not understood (`misread`)."""

    definition: N
    findings: tuple[Finding, ...]
    misread: bool


class Sheet(msgspec.Struct, Generic[N], frozen=True, array_like=True):
    """A file's definitions; `misread`: not even their names are known."""

    declared: tuple[Declared[N], ...]
    findings: tuple[Finding, ...]
    misread: bool


def read(kind: SheetKind[N], reading: Reading, entry: Entry) -> Sheet[N]:
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


def _declared(kind: SheetKind[N], reading: Reading, doc: Document, said: Said, wrong: bool) -> Declared[N]:
    if wrong:
        return Declared(kind.empty(said.name, said.origin), (), True)
    reading.findings.clear()
    return Declared(kind.build(reading, doc, said), tuple(reading.findings), False)


# What stands in many files of a folder, several in each: read all at once, when the first is asked for.


class Gathered(Mapping[str, T]):
    """Things by name, and what is wrong with them."""

    @abstractmethod
    def _gather(self) -> tuple[dict[str, T], Reading]:
        """Everything by name, and the reading that says what is wrong with it."""
        ...

    @cached_property
    def _gathered(self) -> tuple[dict[str, T], Reading]:
        return self._gather()

    def __getitem__(self, name: str) -> T:
        return self._gathered[0][name]

    def __contains__(self, name: object) -> bool:
        return name in self._gathered[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._gathered[0])

    def __len__(self) -> int:
        return len(self._gathered[0])

    def findings(self) -> tuple[Finding, ...]:
        """Return what is wrong with names and with what they stand for."""
        return tuple(self._gathered[1].findings)

    def so_far(self) -> tuple[Finding, ...]:
        """Return the same, if anything has been read."""
        return self.findings() if "_gathered" in self.__dict__ else ()


# The definitions of a kind of which many stand in a file: read all at once, when the first is asked for.


class Sheets(Gathered[N]):
    """Definitions by name, in order of path and of what stands in the files. Of a name the first counts."""

    def __init__(self, tree: Tree, kind: SheetKind[N], packs: Packs) -> None:
        self.kind = kind
        self._tree = tree
        self._packs = packs

    def misread(self, name: str) -> bool:
        """Return whether this is the name of a definition, or the path of a file, that could not be read."""
        return name in self.all_misread()

    def all_misread(self) -> Set[str]:
        """Return the definitions that could not be understood, and the paths of files that say nothing."""
        return self._gathered[1].unread.get(self.kind.folder, set())

    def _gather(self) -> tuple[dict[str, N], Reading]:
        result: dict[str, N] = {}
        families: dict[str, N] = {}
        reading = Reading(self._tree)
        register = Register(reading, self.kind.noun, self.kind.names)
        for path, sheet in self._sheets(reading):
            reading.findings += sheet.findings
            if sheet.misread:
                reading.misread(self.kind.folder, path)
            for declared in sheet.declared:
                definition = declared.definition
                if not register.admit(definition.name, definition.origin):
                    continue
                result[definition.name] = definition
                reading.findings += declared.findings
                if declared.misread:
                    reading.misread(self.kind.folder, definition.name)
                else:
                    self._family(reading, families, definition)
        return result, reading

    def _family(self, reading: Reading, families: dict[str, N], definition: N) -> None:
        family = self.kind.family(definition)
        first = definition if family is None else families.setdefault(family, definition)
        if first is not definition:
            names = (min(first.name, definition.name), max(first.name, definition.name))
            message = f"{names[0]} and {names[1]} declare the same family of {self.kind.noun}s."
            reading.findings.append(Finding("GC103", names, message, (definition.origin, first.origin)))

    def _sheets(self, reading: Reading) -> Iterator[tuple[str, Sheet[N]]]:
        """Yield each file's sheet; what had to be read is kept in the end."""
        folder = self.kind.folder
        pack = self._packs.of(folder, Reading(self._tree).files(folder))
        decoder = msgspec.msgpack.Decoder(self.kind.sheet) if self._packs.keeper is not None else None
        fresh: list[tuple[Entry, Sheet[N]]] = []
        for entry in reading.files(folder):
            sheet: Sheet[N] | None = pack.get(entry, decoder) if decoder is not None else None
            if sheet is None:
                sheet = read(self.kind, reading, entry)
                fresh.append((entry, sheet))
            yield entry.path, sheet
        pack.keep(fresh, lambda sheet: sheet)


def gathered(reading: Reading, kind: SheetKind[N]) -> dict[str, N]:
    """Return all definitions of a kind; what is wrong with them goes into the reading."""
    sheets = Sheets(reading.tree, kind, Packs(None, Settings(Origin(""))))
    reading.findings += sheets.findings()
    for name in sheets.all_misread():
        reading.misread(kind.folder, name)
    return dict(sheets)
