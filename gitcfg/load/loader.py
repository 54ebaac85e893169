"""The loader of a tree: it validates files with their schemas, registers names, and collects findings."""

import re
from collections.abc import Iterator

import msgspec

import gitcfg.progress as progress
from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load import document, schema
from gitcfg.load.document import Document
from gitcfg.model import Finding, Origin
from gitcfg.model.names import shown


class Loader(msgspec.Struct):
    """The state of loading a tree: its findings so far, and the definitions that could not be understood."""

    tree: Tree
    findings: list[Finding] = []
    unread: dict[str, set[str]] = {}

    def report(self, code: str, subject: str, message: str, *origins: Origin, hint: str = "") -> None:
        """Add a finding about one name."""
        self.findings.append(Finding(code, (subject,), message, origins, hint=hint))

    def mark_unread(self, kind: str, name: str) -> None:
        """Record that a definition could not be understood."""
        self.unread.setdefault(kind, set()).add(name)

    def files(self, folder: str, suffix: str = ".yaml") -> Iterator[Entry]:
        """Yield the files of a kind's folder. Links, submodules and wrong file endings are findings."""
        for entry in self.tree.entries(folder):
            name = entry.path.rpartition("/")[2]
            if name.startswith(".") and name != suffix:
                continue
            if entry.kind is not EntryKind.FILE:
                message = f"A {entry.kind.value} is in the place of a file."
                self.report("GC101", entry.path, message, Origin(entry.path), hint="Commit the file itself.")
            elif name.endswith(suffix):
                yield entry
            elif name.lower().endswith((".yml", ".yaml")):
                stem, _, ending = name.rpartition(".")
                message = f"The file's name ends in .{ending}."
                self.report(
                    "GC103", entry.path, message, Origin(entry.path), hint=f"Rename it to {stem}.yaml."
                )

    def read(self, entry: Entry, kind: str) -> tuple[Document, set[str | None]]:
        """Return a file's document, and which parts of it are wrong.

        The set has the names of wrong definitions in the document's one map of definitions, and None if
        something else is wrong.
        """
        progress.note("reading", entry.path)
        if entry.size > document.MAX_BYTES:
            doc = document.too_large(entry.path, entry.size)
        else:
            doc = document.parse(entry.path, self.tree.read(entry))
        if doc.findings:
            self.findings += doc.findings
            if any(finding.code == "GC101" for finding in doc.findings):
                return doc, {None}
        wrong: set[str | None] = set()
        for problem in schema.problems(kind, doc.value):
            wrong.add(str(problem.path[1]) if len(problem.path) > 1 else None)
            origin = doc.key(*problem.path) if problem.key else doc.at(*problem.path)
            if not doc.missing(*problem.path):  # reported as GC106
                self.report("GC102", entry.path, problem.message, origin, hint=problem.hint)
        return doc, wrong


# The definitions of a folder: legal names, each once, no two that differ only in case (GC103).


class Register:
    """The names of one kind. A name that is defined twice, or differs only in case, is a finding."""

    def __init__(self, loader: Loader, noun: str, pattern: re.Pattern[str]) -> None:
        self._loader, self._noun, self._pattern = loader, noun, pattern
        self._places: dict[str, Origin] = {}
        self._folded: dict[str, str] = {}

    def admit(self, name: str, origin: Origin) -> bool:
        """Return whether this name may be defined here, and report the reason if not."""
        if not self._pattern.fullmatch(name):
            self._loader.report(
                "GC103", name, f"{shown(name)!r} is not a valid name for a {self._noun}.", origin
            )
            return False
        first = self._folded.setdefault(name.casefold(), name)
        if name in self._places:
            message = f"The {self._noun} {name} is defined twice."
            self._loader.report("GC103", name, message, origin, self._places[name])
            return False
        if first != name:
            names = (min(name, first), max(name, first))
            message = f"The {self._noun}s {names[0]} and {names[1]} differ only in case."
            self._loader.findings.append(Finding("GC103", names, message, (origin, self._places[first])))
        self._places[name] = origin
        return True
