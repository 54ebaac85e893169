"""Definitions by name, read when needed: one in each file of a folder, or several in a section of a file."""

import re
from abc import abstractmethod
from collections.abc import Callable, ItemsView, Iterator, Mapping, Set, ValuesView
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import msgspec

import gitcfg.progress as progress
from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.cache import Pack, Packs
from gitcfg.load.document import Document, Pair, pairs, place
from gitcfg.load.loader import Loader, Register
from gitcfg.model import Finding, Origin, Settings

T = TypeVar("T")
_FEW = 64  # files that may be read without storing the pack


class Kind(msgspec.Struct, Generic[T], frozen=True):
    """How the files of a folder become definitions, and how these are packed and unpacked.

    `packed` is the type of a packed definition; `pack` and `unpack` convert to and from it.
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
        """The type of a file's body: the packed definition (None if misread), its findings, `misread`."""
        return tuple[self.packed | None, tuple[Finding, ...], bool]  # type: ignore[name-defined]

    @property
    def schema(self) -> str:
        """The name of the schema of its files."""
        return self.noun.replace(" ", "")


class Piece(msgspec.Struct, Generic[T], frozen=True, array_like=True):
    """A definition as read (empty if it was not understood: `misread`), and its findings."""

    definition: T
    findings: tuple[Finding, ...] = ()
    misread: bool = False


class Listing(msgspec.Struct, frozen=True):
    """The files of definitions by name, in order of path, and the findings about paths, by path."""

    entries: Mapping[str, Entry]
    findings: Mapping[str, tuple[Finding, ...]]


class LazyDefinitions(Mapping[str, T]):
    """The definitions of a folder: names follow from paths, and each definition is read when needed.

    They are in order of path. When all have been read, the pack is stored if it lacked any.
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
        """What is known without reading a file."""
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
        """Return the definitions whose packed bodies may contain a word.

        Definitions that were not packed before are included.
        """
        packed = self._packs.keeper is not None
        there = {
            name: self._pack.holds(entry, word) if packed and name not in self._known else None
            for name, entry in self.listing.entries.items()
        }
        if sum(holds is None for holds in there.values()) > _FEW:
            self._all()  # this stores the pack
        return [name for name, holds in there.items() if holds is not False]

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings about names and definitions, in order of path. This reads all definitions."""
        self._all()
        return self.so_far()

    def so_far(self) -> tuple[Finding, ...]:
        """Return the findings about names, and about the definitions that have been read until now."""
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
        """Return all definitions in order of path, independent of the order in which they were read."""
        if not self._whole:
            known, entries = self._known, self.listing.entries
            try:
                self._known = {
                    name: known[name] if name in known else self._read(name, entry)
                    for name, entry in entries.items()
                }
                self._whole = True
            finally:  # also when the time is up: the next attempt continues from there
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
    """Return all definitions of a kind. Their findings are added to the loader."""
    definitions = LazyDefinitions(loader.tree, kind, Packs(None, Settings(Origin(""))))
    loader.findings += definitions.findings()
    for name in definitions.all_misread():
        loader.mark_unread(kind.folder, name)
    return dict(definitions)


def _list_folder(tree: Tree, kind: Kind[Any]) -> Listing:
    """Return the definitions that the names of a folder's files define, with findings (GC101, GC103)."""
    progress.note("listing", f"{kind.folder}/")
    entries = list(tree.entries(kind.folder))
    # A short path for folders without wrong names: it takes a third of the time, and all commands wait for
    # it.
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
    """Read the file of a definition. Its findings are in the piece, not in the loader."""
    start = len(loader.findings)
    doc, wrong = loader.read(entry, kind.schema)
    definition = kind.empty(name, Origin(entry.path)) if wrong else kind.build(loader, doc, name)
    if len(loader.findings) == start and not wrong:
        return Piece(definition)
    found = tuple(loader.findings[start:])
    del loader.findings[start:]
    return Piece(definition, found, bool(wrong))


# Definitions of which a file has several: all files are read when the first definition is requested.


class DeferredMapping(Mapping[str, T]):
    """Definitions by name, loaded together, and their findings."""

    @abstractmethod
    def _load(self) -> tuple[dict[str, T], Loader]:
        """Return all definitions by name, and the loader with their findings."""
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
        """Return the findings about names and definitions."""
        return tuple(self._loaded[1].findings)

    def so_far(self) -> tuple[Finding, ...]:
        """Return the findings if the definitions have been loaded, else none."""
        return self.findings() if "_loaded" in self.__dict__ else ()


class Named(Protocol):
    """The attributes that every definition has."""

    @property
    def name(self) -> str: ...

    @property
    def origin(self) -> Origin: ...


N = TypeVar("N", bound=Named)


class SectionEntry(msgspec.Struct, frozen=True, gc=False):
    """The entry of one name in a file: `given` is its value, `nodes` are YAML's nodes by key."""

    name: str
    origin: Origin
    given: Mapping[str, Any]
    nodes: Mapping[str, Pair]


class Section(msgspec.Struct, Generic[N], frozen=True, array_like=True):
    """The definitions in a file; `misread`: not even their names are known."""

    pieces: tuple[Piece[N], ...]
    findings: tuple[Finding, ...]
    misread: bool


class SectionKind(msgspec.Struct, Generic[N], frozen=True):
    """How the entries of a section become definitions; its key in a file is the folder's name.

    `section` is the type of a packed section. `spoiling` are keys beside the section: if one is wrong, no
    entry can be understood. `family` returns a further name that only one definition may have, or None.
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
    """Definitions by name, in order of path and of the entries in a file. The first one of a name counts."""

    def __init__(self, tree: Tree, kind: SectionKind[N], packs: Packs) -> None:
        self.kind = kind
        self._tree = tree
        self._packs = packs

    def misread(self, name: str) -> bool:
        """Return whether this is the name of a definition, or the path of a file, that could not be read."""
        return name in self.all_misread()

    def all_misread(self) -> Set[str]:
        """Return the definitions that could not be understood, and the paths of files without any names."""
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
        """Yield the section of each file; at the end, those that had to be read are stored."""
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
    """Return all definitions of a kind. Their findings are added to the loader."""
    definitions = SectionDefinitions(loader.tree, kind, Packs(None, Settings(Origin(""))))
    loader.findings += definitions.findings()
    for name in definitions.all_misread():
        loader.mark_unread(kind.folder, name)
    return dict(definitions)


def _read_section(kind: SectionKind[N], tree: Tree, entry: Entry) -> Section[N]:
    """Return a file's section with its findings."""
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
