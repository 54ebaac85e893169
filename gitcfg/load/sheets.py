"""The definitions of a kind of which many stand in a file: read all at once, when the first is asked for."""

from collections.abc import Iterator, Set
from typing import TypeVar

import msgspec

from gitcfg.git.tree import Entry, Tree
from gitcfg.load.gathered import Gathered
from gitcfg.load.names import Register
from gitcfg.load.packs import Packs
from gitcfg.load.reading import Reading
from gitcfg.load.sheet import Named, Sheet, SheetKind, read
from gitcfg.model import Finding, Origin, Settings

T = TypeVar("T", bound=Named)


class Sheets(Gathered[T]):
    """Definitions by name, in order of path and of what stands in the files. Of a name the first counts."""

    def __init__(self, tree: Tree, kind: SheetKind[T], packs: Packs) -> None:
        self.kind = kind
        self._tree = tree
        self._packs = packs

    def misread(self, name: str) -> bool:
        """Is this the name of a definition, or the path of a file, that could not be understood?"""
        return name in self.all_misread()

    def all_misread(self) -> Set[str]:
        """The definitions that could not be understood, and the paths of files that say nothing."""
        return self._gathered[1].unread.get(self.kind.folder, set())

    def _gather(self) -> tuple[dict[str, T], Reading]:
        result: dict[str, T] = {}
        families: dict[str, T] = {}
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

    def _family(self, reading: Reading, families: dict[str, T], definition: T) -> None:
        family = self.kind.family(definition)
        first = definition if family is None else families.setdefault(family, definition)
        if first is not definition:
            names = (min(first.name, definition.name), max(first.name, definition.name))
            message = f"{names[0]} and {names[1]} declare the same family of {self.kind.noun}s."
            reading.findings.append(Finding("GC103", names, message, (definition.origin, first.origin)))

    def _sheets(self, reading: Reading) -> Iterator[tuple[str, Sheet[T]]]:
        """Each file's sheet; what had to be read is kept in the end."""
        folder = self.kind.folder
        pack = self._packs.of(folder, Reading(self._tree).files(folder))
        decoder = msgspec.msgpack.Decoder(self.kind.sheet) if self._packs.keeper is not None else None
        fresh: list[tuple[Entry, Sheet[T]]] = []
        for entry in reading.files(folder):
            sheet: Sheet[T] | None = pack.get(entry, decoder) if decoder is not None else None
            if sheet is None:
                sheet = read(self.kind, reading, entry)
                fresh.append((entry, sheet))
            yield entry.path, sheet
        pack.keep(fresh, lambda sheet: sheet)


def gathered(reading: Reading, kind: SheetKind[T]) -> dict[str, T]:
    """All definitions of a kind; what is wrong with them goes into the reading."""
    sheets = Sheets(reading.tree, kind, Packs(None, Settings(Origin(""))))
    reading.findings += sheets.findings()
    for name in sheets.all_misread():
        reading.misread(kind.folder, name)
    return dict(sheets)
