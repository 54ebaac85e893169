"""GC307: what is asked about the files of a class of nodes."""

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from gitcfg.check.judge import Judge, Meant, Question
from gitcfg.check.lines import Lines
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.model import FileEntry
from gitcfg.model.secrets import unversioned
from gitcfg.render.files import content, selected, separators
from gitcfg.render.formats import LineFormat, formats
from gitcfg.render.templates import TemplateEngine, TemplateProblem

_SUFFIXES = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
_IGNORED = re.compile(r"\.|#|.*(?:~|\.rpmsave|\.rpmnew)\Z", re.DOTALL)
"""What HTCondor passes over in a folder of configuration: its LOCAL_CONFIG_DIR_EXCLUDE_REGEXP."""


class Asking:
    """What is asked about the files of a fleet; `left_out` are names that some format cannot carry.

    What a secret holds is not known here, so that nothing follows from its version. A text in a format is
    asked about without it: else another version of a secret asks about each file that holds it anew.
    """

    def __init__(self, fleet: Fleet, engine: TemplateEngine, judge: Judge, left_out: set[str]) -> None:
        self.fleet, self.engine, self.judge, self.left_out = fleet, engine, judge, left_out
        self._lines: dict[tuple[object, ...], Lines | None] = {}

    def about(self, kind: NodeClass, entry: FileEntry) -> Question | None:
        """The question about one file of a class, if there is a parser for it."""
        format = entry.format or _by_neighbours(kind, entry) or by_name(entry)
        if len(entry.contents) != 1 or format not in self.judge.formats or self.judge.lacks(format):
            return None
        if entry.format is not None:
            return self._lined(kind, entry) or self._written(kind, entry)
        text = self._rendered(kind, entry)
        return None if text is None else Question(format, text)

    def _lined(self, kind: NodeClass, entry: FileEntry) -> Question | None:
        """Written line by line, where the format can be."""
        lines = self._lines_of(entry)
        known = lines.text(kind) if lines is not None else None
        if known is None:
            return None
        text, plain = known
        return Question(entry.format or "", text, lambda: self._meant(kind, entry), plain)

    def _lines_of(self, entry: FileEntry) -> Lines | None:
        key = (entry.format, entry.params, entry.tags)
        if key not in self._lines:
            chosen = formats().get(entry.format or "")
            self._lines[key] = (
                Lines(self.fleet, entry, chosen, self.judge.plain) if isinstance(chosen, LineFormat) else None
            )
        return self._lines[key]

    def _written(self, kind: NodeClass, entry: FileEntry) -> Question:
        """The text as nodes get it, but for the versions of secrets, and what it says."""
        meant = self._meant(kind, entry)
        format = entry.format or ""
        return Question(format, formats()[format].write(meant.values, meant.separators), lambda: meant)

    def _meant(self, kind: NodeClass, entry: FileEntry) -> Meant:
        """What an entry takes, without what its format cannot carry."""
        values = selected(self.fleet, entry, _params(kind))
        apart = separators(self.fleet, values)
        if not self.left_out.isdisjoint(values):
            unfit = {unfit.subjects[-1] for unfit in formats()[entry.format or ""].unfit(values, apart)}
            values = {name: value for name, value in values.items() if name not in unfit}
        return Meant(values, apart)

    def _rendered(self, kind: NodeClass, entry: FileEntry) -> str | None:
        """What the first node of a class gets; None where that is another finding."""
        if not kind.names:
            return None
        try:
            return content(self.fleet, self.fleet[kind.names[0]], entry, self.engine)
        except TemplateProblem:
            return None


def _params(kind: NodeClass) -> Mapping[str, Any]:
    """The final values of a class, without the versions of secrets."""
    params = kind.params
    return (
        {**params, **{name: unversioned(params[name]) for name in kind.secrets}} if kind.secrets else params
    )


def by_name(entry: FileEntry) -> str | None:
    """The format that a file without one has all the same, as its name says."""
    return None if entry.format else _SUFFIXES.get(posixpath.splitext(entry.path)[1].lower())


def _by_neighbours(kind: NodeClass, entry: FileEntry) -> str | None:
    """HTCondor reads every file of a folder like config.d, so what stands beside its files is one too."""
    folder, name = posixpath.split(entry.path)
    if not folder.endswith(".d") or _IGNORED.match(name):
        return None
    beside = (other for path, other in kind.files.items() if posixpath.dirname(path) == folder)
    return "condor" if any(other.format == "condor" for other in beside) else None
