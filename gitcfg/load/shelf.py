"""The definitions of a kind by name, each read when it is first asked for."""

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from gitcfg.git.tree import Entry, Tree
from gitcfg.load.kind import Kind, Piece, read
from gitcfg.load.listing import Listing, listed
from gitcfg.load.packs import Pack, Packs
from gitcfg.load.reading import Reading
from gitcfg.model import Finding, Origin, Settings

T = TypeVar("T")
_FEW = 64  # files that are read without keeping what they say


class Shelf(Mapping[str, T]):
    """Names are known from the tree's paths; a definition is read, or unpacked, once it is asked for.

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
        """What is wrong with names and definitions, in order of path."""
        self._all()
        return self.so_far()

    def so_far(self) -> tuple[Finding, ...]:
        """What is wrong with names, and with the definitions that have been read until now."""
        entries = self.listing.entries
        found = {entries[name].path: piece.findings for name, piece in self._pieces.items()}
        places = self.listing.findings
        paths = sorted(places.keys() | found.keys())
        return tuple(one for path in paths for one in (*places.get(path, ()), *found.get(path, ())))

    def misread(self, name: str) -> bool:
        """Is there a definition of this name that could not be understood?"""
        if name not in self:
            return False
        self[name]
        return name in self._pieces and self._pieces[name].misread

    def all_misread(self) -> Iterator[str]:
        """The definitions that could not be understood."""
        self._all()
        return (name for name, piece in self._pieces.items() if piece.misread)

    def _all(self) -> dict[str, T]:
        """All definitions, in order of path whatever the order was in which they were asked for."""
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
            piece = read(self.kind, self._reading, entry, name)
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
    """All definitions of a kind; what is wrong with them goes into the reading."""
    shelf = Shelf(reading.tree, kind, Packs(None, Settings(Origin(""))))
    reading.findings += shelf.findings()
    for name in shelf.all_misread():
        reading.misread(kind.folder, name)
    return dict(shelf)
