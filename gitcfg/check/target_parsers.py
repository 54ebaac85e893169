"""GC307: rendered files checked by targets' own parsers; verdicts get the places of bindings."""

import posixpath
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, Protocol

import msgspec

from gitcfg.check.files import Lines
from gitcfg.check.findings import of
from gitcfg.check.structure import files
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.model import FileEntry, Finding, Origin, Severity
from gitcfg.model.names import shown
from gitcfg.model.secrets import unversioned
from gitcfg.render.files import find_separators, render_content, select_params
from gitcfg.render.formats import LineFormat, formats
from gitcfg.render.templates import TemplateEngine, TemplateProblem


class Meant(msgspec.Struct, frozen=True):
    """What a file was rendered from: values by parameter, and the separators of lists."""

    values: Mapping[str, Any]
    separators: Mapping[str, str | None] = {}


class Question(msgspec.Struct, frozen=True):
    """A text in a format; `meant` returns what it was rendered from, and is called only if needed.

    Without `meant`, the question is only whether the parser accepts the text. `plain`: every line is known to
    mean its value if it is read as it is written (see `Judge.plain`).
    """

    format: str
    text: str
    meant: Callable[[], Meant] | None = None
    plain: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """One objection of a parser to a text.

    `reason` continues "The file PATH ..."; `line` is in the text, 0 if none is known; `params` are the
    parameters that it is about, if they are known. The last field is False for a warning.
    """

    reason: str
    line: int = 0
    params: tuple[str, ...] = ()
    hint: str = ""
    grave: bool = True


Verdicts = tuple[Verdict, ...]


class Judge(Protocol):
    """Gives texts to parsers; `formats` are those with a parser."""

    formats: frozenset[str]

    def begin(self, formats: Set[str]) -> None:
        """Prepare for questions about texts in these formats."""
        ...

    def lacks(self, format: str) -> bool:
        """Return whether the parser for a format is missing, so that nothing needs to be rendered for it."""
        ...

    def plain(self, format: str, line: str, name: str, value: Any, separator: str | None) -> bool:
        """Return whether a line, read as it is written, gives a parameter its value."""
        ...

    def judge(self, questions: Iterable[Question]) -> Iterator[Verdicts]:
        """Yield the verdicts on each text, in the order of the questions.

        A limited number of further questions is read before the first verdicts are yielded.
        """
        ...


# GC307: the questions about the files of a class of nodes.

_SUFFIXES = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
_IGNORED = re.compile(r"\.|#|.*(?:~|\.rpmsave|\.rpmnew)\Z", re.DOTALL)
"""The files that HTCondor skips in a folder of configuration: its LOCAL_CONFIG_DIR_EXCLUDE_REGEXP."""


class ParserRequests:
    """Questions to parsers about the files of a fleet; `left_out` are names that a format cannot carry.

    The content of secrets is not known here, so verdicts do not depend on versions. Texts have no versions:
    otherwise a new version of a secret would require new verdicts on each file with it.
    """

    def __init__(self, fleet: Fleet, engine: TemplateEngine, judge: Judge, left_out: set[str]) -> None:
        self.fleet, self.engine, self.judge, self.left_out = fleet, engine, judge, left_out
        self._lines: dict[tuple[object, ...], Lines | None] = {}

    def about(self, node_class: NodeClass, entry: FileEntry) -> Question | None:
        """Return the question about one file of a class, if there is a parser for it."""
        format = entry.format or _by_neighbours(node_class, entry) or by_name(entry)
        if len(entry.contents) != 1 or format not in self.judge.formats or self.judge.lacks(format):
            return None
        if entry.format is not None:
            return self._lined(node_class, entry) or self._written(node_class, entry)
        text = self._rendered(node_class, entry)
        return None if text is None else Question(format, text)

    def _lined(self, node_class: NodeClass, entry: FileEntry) -> Question | None:
        """Return the question with the text written line by line, if the format allows that."""
        lines = self._lines_of(entry)
        known = lines.text(node_class) if lines is not None else None
        if known is None:
            return None
        text, plain = known
        return Question(entry.format or "", text, lambda: self._meant(node_class, entry), plain)

    def _lines_of(self, entry: FileEntry) -> Lines | None:
        key = (entry.format, entry.params, entry.tags)
        if key not in self._lines:
            chosen = formats().get(entry.format or "")
            self._lines[key] = (
                Lines(self.fleet, entry, chosen, self.judge.plain) if isinstance(chosen, LineFormat) else None
            )
        return self._lines[key]

    def _written(self, node_class: NodeClass, entry: FileEntry) -> Question:
        """Return the question with the text as nodes get it, without the versions of secrets."""
        meant = self._meant(node_class, entry)
        format = entry.format or ""
        return Question(format, formats()[format].write(meant.values, meant.separators), lambda: meant)

    def _meant(self, node_class: NodeClass, entry: FileEntry) -> Meant:
        """Return the parameters that an entry selects, without those that its format cannot carry."""
        values = select_params(self.fleet, entry, _params(node_class))
        apart = find_separators(self.fleet, values)
        if not self.left_out.isdisjoint(values):
            unfit = {unfit.subjects[-1] for unfit in formats()[entry.format or ""].unfit(values, apart)}
            values = {name: value for name, value in values.items() if name not in unfit}
        return Meant(values, apart)

    def _rendered(self, node_class: NodeClass, entry: FileEntry) -> str | None:
        """Return the file of the first node of a class; None if it cannot be rendered, which is GC208."""
        if not node_class.names:
            return None
        try:
            return render_content(self.fleet, self.fleet[node_class.names[0]], entry, self.engine)
        except TemplateProblem:
            return None


def _params(node_class: NodeClass) -> Mapping[str, Any]:
    """Return the final values of a class, without the versions of secrets."""
    params = node_class.params
    return (
        {**params, **{name: unversioned(params[name]) for name in node_class.secrets}}
        if node_class.secrets
        else params
    )


def by_name(entry: FileEntry) -> str | None:
    """Return the format that the name of a file without a format implies, if any."""
    return None if entry.format else _SUFFIXES.get(posixpath.splitext(entry.path)[1].lower())


def _by_neighbours(node_class: NodeClass, entry: FileEntry) -> str | None:
    """Return `condor` for a file next to others of this format in a folder like config.d, else None.

    HTCondor reads all files in such a folder.
    """
    folder, name = posixpath.split(entry.path)
    if not folder.endswith(".d") or _IGNORED.match(name):
        return None
    beside = (other for path, other in node_class.files.items() if posixpath.dirname(path) == folder)
    return "condor" if any(other.format == "condor" for other in beside) else None


# GC307: the verdicts of targets' own parsers on rendered files.

_CARRIED = ("GC309", "GC310")


def begin(fleet: Fleet, judge: Judge) -> None:
    """Let the judge prepare while other checks run, if there are files to judge."""
    wanted = {entry.format or by_name(entry) or "" for entry in files(fleet.model)} & judge.formats
    if wanted:
        judge.begin(wanted)


def unjudged(fleet: Fleet, judge: Judge) -> frozenset[str]:
    """Return the repository's files with entries in formats whose parsers are not installed."""
    entries = (entry for entry in files(fleet.model) if entry.format in judge.formats)
    return frozenset(entry.origin.file for entry in entries if judge.lacks(entry.format or ""))


def parsed(fleet: Fleet, engine: TemplateEngine, judge: Judge, found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the objections of targets' own parsers to the files of each class of nodes.

    `found` are the findings so far: they include what formats cannot carry, which is costly to find.
    Questions are made ahead of verdicts; only the class and entry of each are kept until its verdict.
    """
    left_out = {name for finding in found if finding.code in _CARRIED for name in finding.subjects}
    requests = ParserRequests(fleet, engine, judge, left_out)
    asked: deque[tuple[NodeClass, FileEntry]] = deque()

    def questions() -> Iterator[Question]:
        for node_class in fleet.judged:
            for entry in node_class.files.values():
                question = requests.about(node_class, entry)
                if question is not None:
                    asked.append((node_class, entry))
                    yield question

    for verdicts in judge.judge(questions()):
        node_class, entry = asked.popleft()
        for verdict in verdicts:
            yield finding(node_class, entry, verdict)


def finding(node_class: NodeClass, entry: FileEntry, verdict: Verdict) -> Finding:
    """Return the finding for a verdict on a file of a class, with the places that led to it."""
    params = verdict.params if entry.format else ()  # names in other files are not parameters
    origins = [origin for name in params for origin in node_class.stack.cells[name].origins]
    origins += [*_sources(entry, verdict.line), entry.origin]
    message = f"The file {shown(entry.path, 200)} {verdict.reason}."
    grave = None if verdict.grave else Severity.WARNING
    hint = verdict.hint
    if not hint and entry.template is not None and verdict.line:  # it is not a line of the template
        hint = f"`gitcfg render {node_class.names[0]} --file {entry.path}` shows the file."
    return of("GC307", params or (entry.path,), message, origins, node_class.names, hint, grave)


def _sources(entry: FileEntry, line: int) -> Iterator[Origin]:
    """Yield the file of the repository that a text comes from.

    Only a plain file has the text's line numbers.
    """
    if entry.template is not None:
        yield Origin(f"templates/{entry.template.name}")
    if entry.source is not None:
        yield Origin(f"files/{entry.source.name}", max(line, 1))
