"""Definitions by name, read when they are needed: one in each file of a folder, or several in a section."""

import re
from abc import abstractmethod
from collections.abc import Callable, ItemsView, Iterator, Mapping, Set, ValuesView
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from gitcfg import progress
from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.cache import Pack, Packs
from gitcfg.load.document import Document, Pair, pairs, place
from gitcfg.load.loader import Loader, Register
from gitcfg.model import Finding, Origin, Settings

T = TypeVar("T")
_FEW = 64  # files that are read without keeping what they say


class Kind(msgspec.Struct, Generic[T], frozen=True):
    """How the files of a folder become definitions, and definitions what a pack holds, and back.

    `packed` is the type that a pack holds, `pack` and `unpack` lead there and back.
    """

    folder: str
    noun: str
    names: re.Pattern[str]
    build: Callable[[Loader, Document, str], T]
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


class Piece(msgspec.Struct, Generic[T], frozen=True, array_like=True):
    """A definition as read, empty if it was not understood (`misread`), and what is wrong with it."""

    definition: T
    findings: tuple[Finding, ...] = ()
    misread: bool = False


class Listing(msgspec.Struct, frozen=True):
    """The files of definitions by name, in order of path, and what is wrong with paths, by path."""

    entries: Mapping[str, Entry]
    findings: Mapping[str, tuple[Finding, ...]]


class LazyDefinitions(Mapping[str, T]):
    """The definitions of a folder: names are known from paths, and each is read or unpacked when needed.

    In order of path. When all have been read, the pack is kept if something was not in it.
    """

    def __init__(self, tree: Tree, kind: Kind[T], packs: Packs) -> None:
        self.kind = kind
        self._loader = Loader(tree)
        self._packs = packs
        self._known: dict[str, T] = {}
        self._faulty: dict[str, Piece[T]] = {}
        self._fresh: list[str] = []
        self._whole = False

    @cached_property
    def listing(self) -> Listing:
        """What is known without reading anything."""
        return _list_folder(self._loader.tree, self.kind)

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
        """Return the definitions whose packed bodies may hold a word: those not packed before do, too."""
        packed = self._packs.keeper is not None
        there = {
            name: self._pack.holds(entry, word) if packed and name not in self._known else None
            for name, entry in self.listing.entries.items()
        }
        if sum(holds is None for holds in there.values()) > _FEW:
            self._all()  # so that the pack is kept
        return [name for name, holds in there.items() if holds is not False]

    def findings(self) -> tuple[Finding, ...]:
        """Return what is wrong with names and definitions, in order of path."""
        self._all()
        return self.so_far()

    def so_far(self) -> tuple[Finding, ...]:
        """Return what is wrong with names, and with the definitions that have been read until now."""
        entries = self.listing.entries
        found = {entries[name].path: piece.findings for name, piece in self._faulty.items()}
        places = self.listing.findings
        paths = sorted(places.keys() | found.keys())
        return tuple(one for path in paths for one in (*places.get(path, ()), *found.get(path, ())))

    def misread(self, name: str) -> bool:
        """Return whether a definition of this name could not be read."""
        if name not in self:
            return False
        self[name]
        return name in self._faulty and self._faulty[name].misread

    def all_misread(self) -> Iterator[str]:
        """Yield the definitions that could not be understood."""
        self._all()
        return (name for name, piece in self._faulty.items() if piece.misread)

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
                self._pack.keep([(entries[name], name) for name in self._fresh], self._body)
                self._fresh = []
        return self._known

    def _read(self, name: str, entry: Entry) -> T:
        body = self._pack.get(entry, self._decoder) if self._packs.keeper is not None else None
        if body is None:
            piece = _read_definition(self.kind, self._loader, entry, name)
            self._fresh.append(name)
        else:
            packed, findings, misread = body
            kind, origin = self.kind, Origin(entry.path)
            definition = kind.empty(name, origin) if packed is None else kind.unpack(packed, name, origin)
            piece = Piece(definition, findings, misread)
        if piece.findings or piece.misread:
            self._faulty[name] = piece
        self._known[name] = piece.definition
        return piece.definition

    def _body(self, name: str) -> tuple[Any, tuple[Finding, ...], bool]:
        piece = self._faulty.get(name, Piece(self._known[name]))
        packed = None if piece.misread else self.kind.pack(piece.definition)
        return packed, piece.findings, piece.misread


def load_definitions(loader: Loader, kind: Kind[T]) -> dict[str, T]:
    """Return all definitions of a kind; what is wrong with them goes into the loader."""
    definitions = LazyDefinitions(loader.tree, kind, Packs(None, Settings(Origin(""))))
    loader.findings += definitions.findings()
    for name in definitions.all_misread():
        loader.mark_unread(kind.folder, name)
    return dict(definitions)


def _list_folder(tree: Tree, kind: Kind[Any]) -> Listing:
    """Return what the names of a folder's files say (GC101, GC103)."""
    progress.note("listing", f"{kind.folder}/")
    entries = list(tree.entries(kind.folder))
    # Where nothing is wrong with any name, it takes a third of the time, and all commands wait.
    found = {entry.path.rpartition("/")[2][: -len(".yaml")]: entry for entry in entries}
    if (
        len(found) == len(entries) == len(set(map(str.casefold, found)))
        and {entry.kind for entry in entries} <= {EntryKind.FILE}
        and all(entry.path.endswith(".yaml") for entry in entries)
        and all(map(kind.names.fullmatch, found))
    ):
        return Listing(found, {})
    loader = Loader(tree)
    admitted: dict[str, Entry] = {}
    register = Register(loader, kind.noun, kind.names)
    for entry in loader.files(kind.folder):
        name = entry.path.rpartition("/")[2][: -len(".yaml")]
        if register.admit(name, Origin(entry.path)):
            admitted[name] = entry
    wrong: dict[str, tuple[Finding, ...]] = {}
    for finding in loader.findings:
        path = finding.origins[0].file
        wrong[path] = (*wrong.get(path, ()), finding)
    return Listing(admitted, wrong)


def _read_definition(kind: Kind[T], loader: Loader, entry: Entry, name: str) -> Piece[T]:
    """Read the file of a definition. What is wrong with it is in the piece, not in the loader."""
    start = len(loader.findings)
    doc, wrong = loader.read(entry, kind.schema)
    definition = kind.empty(name, Origin(entry.path)) if wrong else kind.build(loader, doc, name)
    if len(loader.findings) == start and not wrong:
        return Piece(definition)
    found = tuple(loader.findings[start:])
    del loader.findings[start:]
    return Piece(definition, found, bool(wrong))


# What stands in many files of a folder, several in each: read all at once, when the first is asked for.


class DeferredMapping(Mapping[str, T]):
    """Things by name, and what is wrong with them."""

    @abstractmethod
    def _load(self) -> tuple[dict[str, T], Loader]:
        """Return everything by name, and the loader that has what is wrong with it."""
        ...

    @cached_property
    def _loaded(self) -> tuple[dict[str, T], Loader]:
        return self._load()

    def __getitem__(self, name: str) -> T:
        return self._loaded[0][name]

    def __contains__(self, name: object) -> bool:
        return name in self._loaded[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded[0])

    def __len__(self) -> int:
        return len(self._loaded[0])

    def findings(self) -> tuple[Finding, ...]:
        """Return what is wrong with names and with what they stand for."""
        return tuple(self._loaded[1].findings)

    def so_far(self) -> tuple[Finding, ...]:
        """Return the same, if anything has been read."""
        return self.findings() if "_loaded" in self.__dict__ else ()


class Named(Protocol):
    """What every definition has."""

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> Origin: ...


N = TypeVar("N", bound=Named)


class SectionEntry(msgspec.Struct, frozen=True, gc=False):
    """What a file says of one name: `given` as a value, and by key the nodes."""

    name: str
    origin: Origin
    given: Mapping[str, Any]
    nodes: Mapping[str, Pair]


class Section(msgspec.Struct, Generic[N], frozen=True, array_like=True):
    """A file's definitions; `misread`: not even their names are known."""

    pieces: tuple[Piece[N], ...]
    findings: tuple[Finding, ...]
    misread: bool


class SectionKind(msgspec.Struct, Generic[N], frozen=True):
    """How the entries of a section, under the folder's own name in its files, become definitions.

    `section` is the type of a file's section. `spoiling` are the keys beside it without which no entry can
    be understood. `family` is another name that only one of them may have, if it has any.
    """

    folder: str
    noun: str
    names: re.Pattern[str]
    build: Callable[[Loader, Document, SectionEntry], N]
    empty: Callable[[str, Origin], N]
    section: Any
    spoiling: frozenset[str] = frozenset()
    family: Callable[[N], str | None] = lambda definition: None


class SectionDefinitions(DeferredMapping[N]):
    """Definitions by name, in order of path and of the entries in the files. Of a name the first counts."""

    def __init__(self, tree: Tree, kind: SectionKind[N], packs: Packs) -> None:
        self.kind = kind
        self._tree = tree
        self._packs = packs

    def misread(self, name: str) -> bool:
        """Return whether this is the name of a definition, or the path of a file, that could not be read."""
        return name in self.all_misread()

    def all_misread(self) -> Set[str]:
        """Return the definitions that could not be understood, and the paths of files that say nothing."""
        return self._loaded[1].unread.get(self.kind.folder, set())

    def _load(self) -> tuple[dict[str, N], Loader]:
        result: dict[str, N] = {}
        families: dict[str, N] = {}
        loader = Loader(self._tree)
        register = Register(loader, self.kind.noun, self.kind.names)
        for path, section in self._sections(loader):
            loader.findings += section.findings
            if section.misread:
                loader.mark_unread(self.kind.folder, path)
            for piece in section.pieces:
                definition = piece.definition
                if not register.admit(definition.name, definition.origin):
                    continue
                result[definition.name] = definition
                loader.findings += piece.findings
                if piece.misread:
                    loader.mark_unread(self.kind.folder, definition.name)
                else:
                    self._check_family(loader, families, definition)
        return result, loader

    def _check_family(self, loader: Loader, families: dict[str, N], definition: N) -> None:
        family = self.kind.family(definition)
        first = definition if family is None else families.setdefault(family, definition)
        if first is not definition:
            names = (min(first.name, definition.name), max(first.name, definition.name))
            message = f"{names[0]} and {names[1]} declare the same family of {self.kind.noun}s."
            loader.findings.append(Finding("GC103", names, message, (definition.origin, first.origin)))

    def _sections(self, loader: Loader) -> Iterator[tuple[str, Section[N]]]:
        """Yield each file's section; what had to be read is kept in the end."""
        folder = self.kind.folder
        pack = self._packs.of(folder, Loader(self._tree).files(folder))
        decoder = msgspec.msgpack.Decoder(self.kind.section) if self._packs.keeper is not None else None
        fresh: list[tuple[Entry, Section[N]]] = []
        for entry in loader.files(folder):
            section: Section[N] | None = pack.get(entry, decoder) if decoder is not None else None
            if section is None:
                section = _read_section(self.kind, self._tree, entry)
                fresh.append((entry, section))
            yield entry.path, section
        pack.keep(fresh, lambda section: section)


def load_sections(loader: Loader, kind: SectionKind[N]) -> dict[str, N]:
    """Return all definitions of a kind; what is wrong with them goes into the loader."""
    definitions = SectionDefinitions(loader.tree, kind, Packs(None, Settings(Origin(""))))
    loader.findings += definitions.findings()
    for name in definitions.all_misread():
        loader.mark_unread(kind.folder, name)
    return dict(definitions)


def _read_section(kind: SectionKind[N], tree: Tree, entry: Entry) -> Section[N]:
    """Read a file's section, with what is wrong in it."""
    loader = Loader(tree)
    doc, wrong = loader.read(entry, kind.folder)
    found = tuple(loader.findings)
    if not isinstance(doc.value, dict) or not isinstance(doc.value.get(kind.folder, {}), dict):
        return Section((), found, True)
    if kind.folder not in doc.value:
        return Section((), found, False)
    spoilt = None in wrong or not kind.spoiling.isdisjoint(wrong)
    nodes = zip(doc.top[kind.folder].value, doc.value[kind.folder].items(), strict=True)
    pieces: list[Piece[N]] = []
    for (key, node), (name, given) in nodes:
        origin = place(entry.path, key)
        if spoilt or name in wrong:
            pieces.append(Piece(kind.empty(name, origin), (), True))
        else:
            loader.findings.clear()
            definition = kind.build(loader, doc, SectionEntry(name, origin, given or {}, pairs(node)))
            pieces.append(Piece(definition, tuple(loader.findings)))
    return Section(tuple(pieces), found, False)
