"""GC208, GC209, GC213, GC510: templates, file entries, commands; what formats can carry (GC309, GC310)."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from gitcfg.check.findings import Tally, of, sentence
from gitcfg.check.references import declared
from gitcfg.check.structure import files, some
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass, finish_value
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.partial import Cell
from gitcfg.compile.surface import Bits, Surface, Surfaces, Suspects
from gitcfg.git.tree import EntryKind
from gitcfg.install.policy import is_own, stops_agent
from gitcfg.load.document import MAX_BYTES, conflict_finding, find_conflicts, find_markers, read_again
from gitcfg.model import FileEntry, Finding, Origin, Severity, Subsystem, Undeclared
from gitcfg.model.names import SIGNERS, did_you_mean, shown
from gitcfg.model.secrets import shown as shown_secrets
from gitcfg.model.secrets import unversioned
from gitcfg.render.files import ParameterSelection, Pieces, find_separators, render_content, select_params
from gitcfg.render.formats import Format, LineFormat, formats, is_simple
from gitcfg.render.templates import TemplateEngine, TemplateProblem

_FORBIDDEN = ("/proc", "/sys", "/dev")
_CONTROL = "Install gitcfg's own files by hand, so that no commit can disconnect a node."
_OWN = ".gitcfg-"
_MOST_NAME, _MOST_PATH, _MOST_NAMES = 240, 4000, 100
_MODE = re.compile(r"0?[0-7]{3}")


def entries(fleet: Fleet, engine: TemplateEngine) -> Iterator[Finding]:
    """Yield what is wrong with file entries and templates."""
    for entry in files(fleet.model):
        for reason, hint in (*_contents(fleet, entry), *_path(entry.path), *_mode(entry)):
            message = f"The file entry {shown(entry.path)} {reason}."
            yield of("GC209", entry.path, message, [entry.origin], hint=hint)
    for subsystem in fleet.model.subsystems.values():
        yield from _commands(fleet, subsystem)
    for name in sorted(fleet.model.templates - fleet.templates.keys()):
        message = f"The template {shown(name)} is not UTF-8 text of at most 4 MiB."
        yield of("GC208", name, message, [Origin(f"templates/{name}")])
    broken = set()
    yield from _unresolved(fleet)
    for name, text in fleet.templates.items():
        for finding in _merging(f"templates/{name}", text) or _template(fleet, engine, name):
            broken.add(name)
            yield finding
    yield from _failing(fleet, engine, broken)


def _contents(fleet: Fleet, entry: FileEntry) -> Iterator[tuple[str, str]]:
    said = entry.contents
    takes = bool(entry.params or entry.tags)
    if len(said) != 1:
        have = "has no content" if not said else f"has {len(said)} contents: {', '.join(said)}"
        yield have, "Write one of format, template, text or source."
    elif entry.format is not None and entry.format not in formats():
        yield f"has an unknown format {shown(entry.format)}", did_you_mean(entry.format, formats())
    elif (entry.format is None) == takes:
        lacks = "takes no parameters" if entry.format else "takes parameters but has no format"
        yield lacks, 'Write `params: ["*"]` beside the format to take all of them.'
    if entry.source is not None and fleet.sources.get(entry.source.name, "") is None:
        yield f"takes files/{shown(entry.source.name)}, which is not UTF-8 text of at most 4 MiB", ""


def _path(path: str) -> Iterator[tuple[str, str]]:
    normal = posixpath.normpath(path) if path.startswith("/") else ""
    if not path.startswith("/"):
        yield "has a relative path", "Begin the path with /."
    elif not path.isprintable():
        yield "has a path with characters that cannot be printed", ""
    elif normal.replace("//", "/", 1) != path or path == "/":
        yield (
            "has a path that is not normalized",
            f"Write {normal.replace('//', '/', 1)}." if normal != "/" else "",
        )
    else:
        yield from _beyond(path)
    if is_own(normal):
        yield "is one of gitcfg's own files, which nodes refuse", _CONTROL
    if any((normal + "/").startswith(f"{folder}/") for folder in _FORBIDDEN):
        yield "has a path where gitcfg writes no files", "Choose a path outside of /proc, /sys and /dev."


def _beyond(path: str) -> Iterator[tuple[str, str]]:
    """Yield the limits of every node that a path exceeds: a temporary name must fit next to each file."""
    names = path.split("/")[1:]
    if any(name.startswith(_OWN) for name in names):
        yield (
            f"has a name that begins with {_OWN}",
            "gitcfg uses such names for temporary files.",
        )
    longest = max(len(name.encode()) for name in names)
    if longest > _MOST_NAME or len(path.encode()) > _MOST_PATH or len(names) > _MOST_NAMES:
        most = f"{_MOST_NAME} bytes in a name, {_MOST_PATH} in all, {_MOST_NAMES} names"
        yield "has a path that is too long", f"At most: {most}."


def _commands(fleet: Fleet, subsystem: Subsystem) -> Iterator[Finding]:
    for key, words in subsystem.commands():
        if stops_agent(words):
            place = read_again(fleet.tree, subsystem.origin.file).key("subsystems", subsystem.name, key)
            message = f"`{key}` of the subsystem {subsystem.name} stops the agent that runs it."
            hint = "`systemctl --no-block restart gitcfg-agent` restarts it after the installation."
            yield of("GC213", subsystem.name, message, [place], hint=hint)


def _mode(entry: FileEntry) -> Iterator[tuple[str, str]]:
    if not _MODE.fullmatch(entry.mode):
        yield f"has the mode {shown(entry.mode)}", 'Write three octal digits after a zero: "0644".'


def _unresolved(fleet: Fleet) -> Iterator[Finding]:
    """Yield unresolved merges in files that are not YAML. A plain file may have such lines on purpose."""
    for name, text in fleet.sources.items() if fleet.model.sources else ():
        yield from _merging(f"files/{name}", text or "", Severity.WARNING)
    signers = fleet.tree.entry(SIGNERS)
    if signers is not None and signers.kind is EntryKind.FILE and signers.size <= MAX_BYTES:
        blocks = find_markers(fleet.tree.read(signers).decode("utf-8", "replace"))
        if blocks:
            yield conflict_finding(SIGNERS, blocks)


def _merging(path: str, text: str, severity: Severity = Severity.ERROR) -> list[Finding]:
    """Return the conflicts with all markers that git writes: fewer may be part of the text."""
    blocks = [block for block in find_conflicts(text) if block.whole]
    return [conflict_finding(path, blocks, severity)] if blocks else []


def _template(fleet: Fleet, engine: TemplateEngine, name: str) -> Iterator[Finding]:
    path = f"templates/{name}"
    problem = engine.analyse(name).problem
    if problem is not None:
        file = f"templates/{problem.name}"
        message = f"The template {shown(name)} cannot be read: {problem.message}"
        yield of("GC208", name, message, [Origin(file, problem.line)], hint=problem.hint)
        return
    bound = fleet.bindings.names
    for param, line in engine.analyse(name).params:
        if param not in bound and fleet.declarations.find(param) is None:
            hint = did_you_mean(param, fleet.model.parameters)
            message = f"The template {shown(name)} names a parameter {shown(param)} that does not exist."
            yield of("GC208", param, message, [Origin(path, line)], hint=hint)


def _failing(fleet: Fleet, engine: TemplateEngine, broken: set[str]) -> Iterator[Finding]:
    """Yield the templates that fail on a node. The first node of each class is tried, until one fails."""
    for node_class in fleet.judged:
        for entry in node_class.files.values():
            name = entry.template.name if entry.template else ""
            if name not in fleet.templates or name in broken or not node_class.names:
                continue
            try:
                render_content(fleet, fleet[node_class.names[0]], entry, engine)
            except TemplateProblem as problem:
                broken.add(name)
                message = f"The template {shown(name)} fails on {node_class.names[0]}: {problem.message}"
                origin = Origin(f"templates/{problem.name}", problem.line)
                yield of("GC208", name, message, [origin], hint=problem.hint)


# What a format may be unable to carry: each cell is tested once, and all names together.

_PLAIN = "x"
"""A value that every format can carry."""


class Carrier:
    """The parameters of a class that must be checked before they are written in a format."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces, format: str) -> None:
        self._surfaces = surfaces
        alike = formats()[format].unfit(dict.fromkeys(surfaces.params.names, _PLAIN), {})
        self._names = surfaces.params.among({name for unfit in alike for name in unfit.subjects})
        self._cells = Suspects(surfaces, partial(_is_doubtful, fleet, formats()[format]), safe=is_simple)

    def doubtful(self, node_class: NodeClass, surface: Surface) -> list[str]:
        """Return the parameters of a class to check: all of them if some names may conflict."""
        if surface.bound & self._names:
            return list(self._surfaces.params.of(surface.bound))
        return self._cells.of(node_class, surface)


def _is_doubtful(fleet: Fleet, format: Format, name: str, cell: Cell) -> bool:
    """Return whether a format may be unable to carry a cell, or the cell's value depends on facts."""
    value = shown_secrets(finish_value(fleet.declarations, name, cell.value))  # in its written form
    if value is PENDING or value is NOTHING or value is None:
        return value is PENDING
    return any(format.unfit({name: value}, find_separators(fleet, {name: value})))


# GC306, GC309, GC310, GC510: files that can hold their parameters, and parameters without a file.


class WrittenValues:
    """The checks of the files that nodes' parameters are written to."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces, engine: TemplateEngine) -> None:
        self._fleet = fleet
        self._surfaces = surfaces
        self._engine = engine
        self._tally = Tally()
        self._known: dict[int, _Files] = {}
        self._formats: dict[str, Carrier] = {}
        self._bare: dict[tuple[int, int], _Bare] = {}
        read = params_read(fleet)
        self._read = -1 if read is None else surfaces.params.among(read)
        known = fleet.model.features
        lacking = (one.name for one in known.values() if any(use.feature not in known for use in one.include))
        self._lacking = frozenset(lacking)

    def see(self, node_class: NodeClass, surface: Surface) -> Iterator[Finding]:
        files = node_class.files
        if not files:
            self._without_files(node_class, surface)
            return
        known = self._known.get(id(files)) or self._look(files)
        if known.paths:
            self._tally.add("paths", files, node_class.names, lambda: known.paths)
        for entry, carrier in known.carriers:
            doubtful = carrier.doubtful(node_class, surface)
            if doubtful:
                yield from self._unfit(node_class, entry, doubtful)
        untaken = self._serving(node_class, surface.bound & ~known.taken)
        for name in filter(self._exists, self._surfaces.params.of(untaken)):
            cell = self._surfaces.cell(node_class, name)
            self._tally.add(("GC510", name), cell, node_class.names, partial(_untaken, name, cell))

    def end(self) -> Iterable[Finding]:
        yield from self._tally.findings()
        for bare in self._bare.values():
            names = tuple(sorted(filter(self._exists, self._surfaces.params.of(bare.params))))
            if names:
                yield bare.finding(self._fleet, names)

    def _exists(self, name: str) -> bool:
        """Return whether a parameter exists (GC201)."""
        allowed = self._fleet.model.settings.undeclared is Undeclared.ALLOW
        return allowed or declared(self._fleet, name)

    def _without_files(self, node_class: NodeClass, surface: Surface) -> None:
        """Note the unused parameters of nodes without files, by layer, since many nodes share these."""
        untaken = self._serving(node_class, surface.bound)
        for part, top in zip(node_class.parts, surface.tops, strict=True) if untaken else ():
            self._note(node_class, part.cells, top & untaken)
        joined = self._surfaces.params.mask(surface.joins) & untaken if untaken else 0
        self._note(node_class, surface.joins, joined)

    def _serving(self, node_class: NodeClass, untaken: int) -> int:
        """Return which of some parameters without a file serve nothing else; none for classes without nodes.

        Classes that name groups or features that do not exist (GC201) have none either, since those might
        have included a file.
        """
        untaken &= ~self._read
        return untaken if untaken and node_class.names and not self._lacks(node_class) else 0

    def _lacks(self, node_class: NodeClass) -> bool:
        """Return whether a class names groups or features that do not exist, also through includes."""
        model, said = self._fleet.model, node_class.definition
        if any(ref.name not in model.groups for ref in said.groups) or self._lacking & node_class.features:
            return True
        groups = (model.settings.default_group, *node_class.groups)
        uses = [use for name in groups if name in model.groups for use in model.groups[name].features]
        uses += [
            *(use for use, _ in said.features),
            *(use for o in node_class.overrides for use in o.features),
        ]
        return any(use.feature not in model.features for use in uses)

    def _note(self, node_class: NodeClass, cells: Mapping[str, Cell], untaken: int) -> None:
        if untaken:
            bare = self._bare.setdefault((id(cells), untaken), _Bare(cells, untaken, []))
            bare.nodes.extend(node_class.names)

    def _look(self, files: Mapping[str, FileEntry]) -> "_Files":
        """Return what all classes with these entries share, and store it."""
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

    def _unfit(self, node_class: NodeClass, entry: FileEntry, names: Iterable[str]) -> Iterator[Finding]:
        cells = {name: self._surfaces.cell(node_class, name) for name in sorted(names)}
        found = {name: node_class.value(name, cell) for name, cell in cells.items()}
        values = select_params(self._fleet, entry, found)
        for unfit in formats()[entry.format or ""].unfit(values, find_separators(self._fleet, values)):
            origins = [origin for name in unfit.subjects for origin in cells[name].origins]
            origins.append(entry.origin)
            yield of(
                unfit.code, unfit.subjects, sentence(unfit.reason), origins, node_class.names, unfit.hint
            )

    def _takes(self, entry: FileEntry) -> int:
        """Return the parameters that one file uses; a template with a loop over all parameters uses all."""
        params = self._surfaces.params
        if entry.template is not None and entry.template.name in self._fleet.templates:
            analysis = self._engine.analyse(entry.template.name)
            return params.among(
                params.names if analysis.everything else (name for name, _ in analysis.params)
            )
        bare = dict.fromkeys(params.names, "")
        return params.among(select_params(self._fleet, entry, bare)) if entry.format else 0


class _Files(msgspec.Struct, frozen=True):
    """Entries with what all classes that have them share.

    `paths` are the findings about their paths, `carriers` the entries with formats, and `taken` the
    parameters that they use, as bits.
    """

    entries: Mapping[str, FileEntry]
    paths: tuple[Finding, ...]
    carriers: tuple[tuple[FileEntry, Carrier], ...]
    taken: int


class _Bare(msgspec.Struct, frozen=True):
    """Some parameters of a layer, as bits, and the nodes without files for which these count."""

    cells: Mapping[str, Cell]
    params: int
    nodes: list[str]

    def finding(self, fleet: Fleet, names: tuple[str, ...]) -> Finding:
        """Return one GC510 for all of them, at the first in each file, since one file entry would fix all."""
        first: dict[str, Origin] = {}
        for origin in sorted(self.cells[name].origins[0] for name in names):
            first.setdefault(origin.file, origin)
        message = f"No file uses {some(names)}: the node has no files."
        found = map(fleet.declarations.find, names)
        condor = any(one is not None and (one.macros or one.type == "expression") for one in found)
        entry = _CONDOR if condor else _JSON
        hint = f"Add one, to groups/{fleet.model.settings.default_group}.yaml for every node: {entry}"
        return of("GC510", names, message, first.values(), self.nodes, hint)


_CONDOR = '`files: {/etc/condor/config.d/50-gitcfg.config: {format: condor, params: ["*"]}}`.'
_JSON = '`files: {/etc/example/settings.json: {format: json, params: ["*"]}}`.'


def params_read(fleet: Fleet) -> frozenset[str] | None:
    """Return the parameters that rules read or other nodes collect, so that they need no file.

    None: it may be any parameter.
    """
    by_rules = fleet.rule_engine.book.params_read if fleet.rule_engine is not None else frozenset[str]()
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
    yield of("GC510", name, f"No file of the node uses {name}.", cell.origins, hint=hint)


# Files with one line for each parameter, and whether each line certainly means its value.

Plain = Callable[[str, str, str, Any, str | None], bool]  # see Judge.plain


class Lines:
    """The text of an entry in such a format, without the versions of secrets.

    `plain` returns whether a line means its value. It is called once for each distinct line.
    """

    def __init__(self, fleet: Fleet, entry: FileEntry, chosen: LineFormat, plain: Plain) -> None:
        odd = self._odd = set[str]()

        def notice(name: str, value: Any, line: str, separator: str | None) -> None:
            if not plain(chosen.name, line, name, value, separator):
                odd.add(name)

        self._pieces = Pieces(fleet, entry, chosen, notice, unversioned)

    def text(self, node_class: NodeClass) -> tuple[str, bool] | None:
        """Return the text of a class, and whether all its lines are plain; None if pieces are not enough."""
        pieces = self._pieces.of(node_class)
        if pieces is None:
            return None
        return "".join(pieces.values()), not any(pieces.get(name) for name in self._odd)


def selected_params(fleet: Fleet, params: Bits, entry: FileEntry) -> int:
    """Return the parameters that an entry with a format selects, as bits."""
    selection = ParameterSelection(fleet.declarations, entry)
    return params.among(name for name in params.names if selection.separators(name) is not None)
