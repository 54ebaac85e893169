"""GC306, GC309, GC310, GC510: files that can hold what they are given, and hold all of it."""

import posixpath
from collections.abc import Iterator

from gitcfg.check.fold import of, sentence
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.model import FileEntry, Finding
from gitcfg.render.files import selected, separators
from gitcfg.render.formats import formats
from gitcfg.render.templates import TemplateEngine


def carried(fleet: Fleet, engine: TemplateEngine) -> Iterator[Finding]:
    """What is wrong with what nodes' parameters are written to."""
    for kind in fleet.judged:
        yield from _paths(kind)
        taken: set[str] = set()
        for entry in kind.files.values():
            taken |= _taken(fleet, kind, entry, engine)
            yield from _unfit(fleet, kind, entry)
        if kind.files and kind.names:
            yield from _untaken(kind, taken)


def _paths(kind: NodeClass) -> Iterator[Finding]:
    normal: dict[str, FileEntry] = {}
    for path, entry in kind.files.items():
        first = normal.setdefault(posixpath.normpath(path), entry)
        if first is not entry:
            pair = (min(first.path, path), max(first.path, path))
            message = f"The files {pair[0]} and {pair[1]} are one."
            yield of("GC306", pair, message, [first.origin, entry.origin], kind.names)
    for path, entry in normal.items():
        parent = posixpath.dirname(path)
        while parent not in ("/", ""):
            if parent in normal:
                folder = normal[parent]
                pair = (folder.path, entry.path)
                message = f"{folder.path} is a file, so {entry.path} cannot be in it."
                yield of("GC306", pair, message, [folder.origin, entry.origin], kind.names)
            parent = posixpath.dirname(parent)


def _unfit(fleet: Fleet, kind: NodeClass, entry: FileEntry) -> Iterator[Finding]:
    chosen = formats().get(entry.format or "")
    if chosen is None:
        return
    values = selected(fleet, entry, kind.params)
    for unfit in chosen.unfit(values, separators(fleet, values)):
        origins = [origin for name in unfit.subjects for origin in kind.stack.cells[name].origins]
        origins.append(entry.origin)
        yield of(unfit.code, unfit.subjects, sentence(unfit.reason), origins, kind.names, unfit.hint)


def _taken(fleet: Fleet, kind: NodeClass, entry: FileEntry, engine: TemplateEngine) -> set[str]:
    """The parameters that a file takes; a template that goes through all of them takes all."""
    if entry.template is not None and entry.template.name in fleet.templates:
        analysis = engine.analyse(entry.template.name)
        return set(kind.params) if analysis.everything else {name for name, _ in analysis.params}
    bare = dict.fromkeys(kind.params, "")
    return set(selected(fleet, entry, bare)) if entry.format else set()


def _untaken(kind: NodeClass, taken: set[str]) -> Iterator[Finding]:
    for name in kind.params.keys() - taken:
        origins = kind.stack.cells[name].origins
        message = f"No file of the node takes {name}."
        hint = "Widen the `params:` of a file entry, or bind it where it is used."
        yield of("GC510", name, message, origins, kind.names, hint)
