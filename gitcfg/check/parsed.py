"""GC307: rendered files as their targets' own parsers read them."""

from collections import deque
from collections.abc import Iterable, Iterator

from gitcfg.check.asking import Asking, by_name
from gitcfg.check.fold import of
from gitcfg.check.judge import Judge, Question, Verdict
from gitcfg.check.places import files
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.model import FileEntry, Finding, Origin, Severity
from gitcfg.model.names import shown
from gitcfg.render.templates import TemplateEngine

_CARRIED = ("GC309", "GC310")


def begin(fleet: Fleet, judge: Judge) -> None:
    """Let a judge get ready while other checks run, where there is something to judge."""
    wanted = {entry.format or by_name(entry) or "" for entry in files(fleet.model)} & judge.formats
    if wanted:
        judge.begin(wanted)


def unjudged(fleet: Fleet, judge: Judge) -> frozenset[str]:
    """Return the repository's files with entries in formats whose parsers are not installed."""
    entries = (entry for entry in files(fleet.model) if entry.format in judge.formats)
    return frozenset(entry.origin.file for entry in entries if judge.lacks(entry.format or ""))


def parsed(fleet: Fleet, engine: TemplateEngine, judge: Judge, found: Iterable[Finding]) -> Iterator[Finding]:
    """What targets' own parsers have against the files of each class of nodes.

    `found` are the findings so far: what formats cannot carry is among them, and looking for it is costly.
    Questions are asked ahead; of those under way only whose they are is held.
    """
    left_out = {name for finding in found if finding.code in _CARRIED for name in finding.subjects}
    asking = Asking(fleet, engine, judge, left_out)
    asked: deque[tuple[NodeClass, FileEntry]] = deque()

    def questions() -> Iterator[Question]:
        for kind in fleet.judged:
            for entry in kind.files.values():
                question = asking.about(kind, entry)
                if question is not None:
                    asked.append((kind, entry))
                    yield question

    for verdicts in judge.judge(questions()):
        kind, entry = asked.popleft()
        for verdict in verdicts:
            yield finding(kind, entry, verdict)


def finding(kind: NodeClass, entry: FileEntry, verdict: Verdict) -> Finding:
    """A verdict on a file of a class, with the places that led to it."""
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
