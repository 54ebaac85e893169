"""GC306, GC309, GC310, GC510: files that can hold what they are given, and hold all of it."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import msgspec

from gitcfg.check.carrier import Carrier
from gitcfg.check.fold import of, sentence
from gitcfg.check.references import declared
from gitcfg.check.structure import some
from gitcfg.check.watch import Tally
from gitcfg.compile.cell import Cell
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.surface import Surface, Surfaces
from gitcfg.model import FileEntry, Finding, Undeclared
from gitcfg.render.files import selected, separators
from gitcfg.render.formats import formats
from gitcfg.render.templates import TemplateEngine


class Carried:
    """What is wrong with what nodes' parameters are written to."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces, engine: TemplateEngine) -> None:
        self._fleet = fleet
        self._surfaces = surfaces
        self._engine = engine
        self._told = Tally()
        self._known: dict[int, _Files] = {}
        self._formats: dict[str, Carrier] = {}
        self._bare: dict[tuple[int, int], _Bare] = {}
        read = params_read(fleet)
        self._read = -1 if read is None else surfaces.params.among(read)
        known = fleet.model.features
        lacking = (one.name for one in known.values() if any(use.feature not in known for use in one.include))
        self._lacking = frozenset(lacking)

    def see(self, kind: NodeClass, surface: Surface) -> Iterator[Finding]:
        files = kind.files
        if not files:
            self._without_files(kind, surface)
            return
        known = self._known.get(id(files)) or self._look(files)
        if known.paths:
            self._told.add("paths", files, kind.names, lambda: known.paths)
        for entry, carrier in known.carriers:
            doubtful = carrier.doubtful(kind, surface)
            if doubtful:
                yield from self._unfit(kind, entry, doubtful)
        untaken = self._serving(kind, surface.bound & ~known.taken)
        for name in filter(self._exists, self._surfaces.params.of(untaken)):
            cell = self._surfaces.cell(kind, name)
            self._told.add(("GC510", name), cell, kind.names, partial(_untaken, name, cell))

    def end(self) -> Iterable[Finding]:
        yield from self._told.findings()
        for bare in self._bare.values():
            names = tuple(sorted(filter(self._exists, self._surfaces.params.of(bare.params))))
            if names:
                yield bare.finding(self._fleet, names)

    def _exists(self, name: str) -> bool:
        """Is nothing else wrong with a parameter (GC201)?"""
        allowed = self._fleet.model.settings.undeclared is Undeclared.ALLOW
        return allowed or declared(self._fleet, name)

    def _without_files(self, kind: NodeClass, surface: Surface) -> None:
        """Note what nodes bind for nothing, layer by layer: many nodes share those."""
        untaken = self._serving(kind, surface.bound)
        for part, top in zip(kind.parts, surface.tops, strict=True) if untaken else ():
            self._note(kind, part.cells, top & untaken)
        joined = self._surfaces.params.mask(surface.joins) & untaken if untaken else 0
        self._note(kind, surface.joins, joined)

    def _serving(self, kind: NodeClass, untaken: int) -> int:
        """Those of some parameters that no file takes which serve nothing else: it is said of real nodes.

        What does not exist (GC201) might have brought a file.
        """
        untaken &= ~self._read
        return untaken if untaken and kind.names and not self._lacks(kind) else 0

    def _lacks(self, kind: NodeClass) -> bool:
        """Does a class name groups or features that do not exist, be it by including them?"""
        model, said = self._fleet.model, kind.said
        if any(ref.name not in model.groups for ref in said.groups) or self._lacking & kind.features:
            return True
        groups = (model.settings.default_group, *kind.groups)
        uses = [use for name in groups if name in model.groups for use in model.groups[name].features]
        uses += [*(use for use, _ in said.features), *(use for o in kind.overrides for use in o.features)]
        return any(use.feature not in model.features for use in uses)

    def _note(self, kind: NodeClass, cells: Mapping[str, Cell], untaken: int) -> None:
        if untaken:
            bare = self._bare.setdefault((id(cells), untaken), _Bare(cells, untaken, []))
            bare.nodes.extend(kind.names)

    def _look(self, files: Mapping[str, FileEntry]) -> "_Files":
        """Look at entries that many classes have: once for all of them."""
        taken = 0
        for entry in files.values():
            taken |= self._takes(entry)
        found = ((entry, self._carrier(entry)) for entry in files.values())
        carriers = tuple((entry, carrier) for entry, carrier in found if carrier is not None)
        self._known[id(files)] = _Files(files, tuple(_paths(files)), carriers, taken)
        return self._known[id(files)]

    def _carrier(self, entry: FileEntry) -> Carrier | None:
        name = entry.format or ""
        if name in formats() and name not in self._formats:
            self._formats[name] = Carrier(self._fleet, self._surfaces, name)
        return self._formats.get(name)

    def _unfit(self, kind: NodeClass, entry: FileEntry, names: Iterable[str]) -> Iterator[Finding]:
        cells = {name: self._surfaces.cell(kind, name) for name in sorted(names)}
        found = {name: kind.value(name, cell) for name, cell in cells.items()}
        values = selected(self._fleet, entry, found)
        for unfit in formats()[entry.format or ""].unfit(values, separators(self._fleet, values)):
            origins = [origin for name in unfit.subjects for origin in cells[name].origins]
            origins.append(entry.origin)
            yield of(unfit.code, unfit.subjects, sentence(unfit.reason), origins, kind.names, unfit.hint)

    def _takes(self, entry: FileEntry) -> int:
        """What one file takes; a template that goes through all parameters takes all."""
        params = self._surfaces.params
        if entry.template is not None and entry.template.name in self._fleet.templates:
            analysis = self._engine.analyse(entry.template.name)
            return params.among(
                params.names if analysis.everything else (name for name, _ in analysis.params)
            )
        bare = dict.fromkeys(params.names, "")
        return params.among(selected(self._fleet, entry, bare)) if entry.format else 0


class _Files(msgspec.Struct, frozen=True):
    """Entries with what is the same for all classes that have them: what is wrong with their paths, the
    formats that some are written in, and the parameters that they take, as bits."""

    entries: Mapping[str, FileEntry]
    paths: tuple[Finding, ...]
    carriers: tuple[tuple[FileEntry, Carrier], ...]
    taken: int


class _Bare(msgspec.Struct, frozen=True):
    """What a layer says of some parameters, as bits, and the nodes without files on which that counts."""

    cells: Mapping[str, Cell]
    params: int
    nodes: list[str]

    def finding(self, fleet: Fleet, names: tuple[str, ...]) -> Finding:
        """GC510, once for all of them: whoever has no files yet needs one for all, not a list of them."""
        first = (self.cells[name].origins[0] for name in names)
        origin = min(first, key=lambda origin: (origin.line, origin.column, origin.file))
        message = f"No file takes {some(names)}: the node has no files."
        found = map(fleet.declarations.find, names)
        condor = any(one is not None and (one.macros or one.type == "expression") for one in found)
        entry = _CONDOR if condor else _JSON
        hint = f"Add one, to groups/{fleet.model.settings.default_group}.yaml for every node: {entry}"
        return of("GC510", names, message, [origin], self.nodes, hint)


_CONDOR = '`files: {/etc/condor/config.d/50-gitcfg.config: {format: condor, params: ["*"]}}`.'
_JSON = '`files: {/etc/example/settings.json: {format: json, params: ["*"]}}`.'


def params_read(fleet: Fleet) -> frozenset[str] | None:
    """The parameters whose values rules look at, or other nodes collect: they serve without a file.

    None: it may be any.
    """
    by_rules = fleet.bringing.book.params_read if fleet.bringing is not None else frozenset[str]()
    by_nodes = fleet.collecting.params if fleet.collecting is not None else frozenset[str]()
    return None if by_rules is None or by_nodes is None else by_rules | by_nodes


def _paths(files: Mapping[str, FileEntry]) -> Iterator[Finding]:
    normal: dict[str, FileEntry] = {}
    for path, entry in files.items():
        first = normal.setdefault(posixpath.normpath(path), entry)
        if first is not entry:
            pair = (min(first.path, path), max(first.path, path))
            message = f"The files {pair[0]} and {pair[1]} are one."
            yield of("GC306", pair, message, [first.origin, entry.origin])
    for path, entry in normal.items():
        parent = posixpath.dirname(path)
        while parent not in ("/", ""):
            if parent in normal:
                folder = normal[parent]
                pair = (folder.path, entry.path)
                message = f"{folder.path} is a file, so {entry.path} cannot be in it."
                yield of("GC306", pair, message, [folder.origin, entry.origin])
            parent = posixpath.dirname(parent)


def _untaken(name: str, cell: Cell) -> Iterator[Finding]:
    hint = "Widen the `params:` of a file entry, or bind it where it is used."
    yield of("GC510", name, f"No file of the node takes {name}.", cell.origins, hint=hint)
