"""GC307: rendered files as their targets' own parsers read them."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Any

from gitcfg.check.fold import of
from gitcfg.check.judge import Judge, Meant, Verdict
from gitcfg.check.places import files
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.model import FileEntry, Finding, Origin, Severity
from gitcfg.model.names import shown
from gitcfg.render.files import content, selected, separators
from gitcfg.render.formats import formats
from gitcfg.render.templates import TemplateEngine, TemplateProblem

_SUFFIXES = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
_IGNORED = re.compile(r"\.|#|.*(?:~|\.rpmsave|\.rpmnew)\Z", re.DOTALL)
"""What HTCondor passes over in a folder of configuration: its LOCAL_CONFIG_DIR_EXCLUDE_REGEXP."""

_CARRIED = ("GC309", "GC310")

Question = tuple[str, str, Meant | None]  # a format, a text, and what the text was written from


def begin(fleet: Fleet, judge: Judge) -> None:
    """Let a judge get ready while other checks run, where there is something to judge."""
    if any(entry.format in judge.formats or _by_name(entry) in judge.formats for entry in files(fleet.model)):
        judge.begin()


def parsed(fleet: Fleet, engine: TemplateEngine, judge: Judge, found: Iterable[Finding]) -> Iterator[Finding]:
    """What targets' own parsers have against the files of each class of nodes.

    `found` are the findings so far: what formats cannot carry is among them, and looking for it is costly.
    """
    left_out = {name for finding in found if finding.code in _CARRIED for name in finding.subjects}
    questions = _Questions(fleet, engine, judge.formats, left_out)
    for kind in fleet.judged:
        for entry in kind.files.values():
            asked = questions.about(kind, entry)
            for verdict in judge.judge(*asked) if asked else ():
                yield _finding(kind, entry, verdict)


class _Questions:
    """What is asked about the files of a fleet; `left_out` are names that some format cannot carry."""

    def __init__(
        self, fleet: Fleet, engine: TemplateEngine, known: frozenset[str], left_out: set[str]
    ) -> None:
        self.fleet, self.engine, self.known, self.left_out = fleet, engine, known, left_out

    def about(self, kind: NodeClass, entry: FileEntry) -> Question | None:
        """The question about one file of a class, if there is a parser for it."""
        format = entry.format or _by_neighbours(kind, entry) or _by_name(entry)
        if len(entry.contents) != 1 or format not in self.known:
            return None
        if entry.format is not None:
            return (format, *self._written(entry, kind.params))
        text = self._rendered(kind, entry)
        return None if text is None else (format, text, None)

    def _written(self, entry: FileEntry, params: Any) -> tuple[str, Meant]:
        """The text as nodes get it, and what it says: without what the format cannot carry."""
        chosen = formats()[entry.format or ""]
        values = selected(self.fleet, entry, params)
        apart = separators(self.fleet, values)
        if not self.left_out.isdisjoint(values):
            unfit = {unfit.subjects[-1] for unfit in chosen.unfit(values, apart)}
            values = {name: value for name, value in values.items() if name not in unfit}
        return chosen.write(values, apart), Meant(values, apart)

    def _rendered(self, kind: NodeClass, entry: FileEntry) -> str | None:
        """What the first node of a class gets; None where that is another finding."""
        if not kind.names:
            return None
        try:
            return content(self.fleet, self.fleet[kind.names[0]], entry, self.engine)
        except TemplateProblem:
            return None


def _by_name(entry: FileEntry) -> str | None:
    """The format that a file without one has all the same, as its name says."""
    return None if entry.format else _SUFFIXES.get(posixpath.splitext(entry.path)[1].lower())


def _by_neighbours(kind: NodeClass, entry: FileEntry) -> str | None:
    """HTCondor reads every file of a folder like config.d, so what stands beside its files is one too."""
    folder, name = posixpath.split(entry.path)
    if not folder.endswith(".d") or _IGNORED.match(name):
        return None
    beside = (other for path, other in kind.files.items() if posixpath.dirname(path) == folder)
    return "condor" if any(other.format == "condor" for other in beside) else None


def _finding(kind: NodeClass, entry: FileEntry, verdict: Verdict) -> Finding:
    params = verdict.params if entry.format else ()  # what others write sets names of its own
    origins = [origin for name in params for origin in kind.stack.cells[name].origins]
    origins += [*_sources(entry, verdict.line), entry.origin]
    message = f"The file {shown(entry.path, 200)} {verdict.reason}."
    grave = None if verdict.grave else Severity.WARNING
    hint = verdict.hint or _look(kind, entry, verdict.line)
    return of("GC307", params or (entry.path,), message, origins, kind.names, hint, grave)


def _look(kind: NodeClass, entry: FileEntry, line: int) -> str:
    """How to see the line, which is not one of the template's."""
    if entry.template is None or not line:
        return ""
    return f"`gitcfg render {kind.names[0]} --file {entry.path}` shows the file."


def _sources(entry: FileEntry, line: int) -> Iterator[Origin]:
    """The file of the repository that a text comes from; only a plain one has the text's own lines."""
    if entry.template is not None:
        yield Origin(f"templates/{entry.template.name}")
    if entry.source is not None:
        yield Origin(f"files/{entry.source.name}", max(line, 1))
