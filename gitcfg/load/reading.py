"""One document of a kind: parsed, judged by its schema, with what could not be understood."""

from collections.abc import Iterator

import msgspec

from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load import document, schema
from gitcfg.load.document import Document
from gitcfg.model import Finding, Origin
from gitcfg.sandbox import progress


class Reading(msgspec.Struct):
    """A tree while it is read: its findings so far, and what stands in files nobody understood."""

    tree: Tree
    findings: list[Finding] = []
    unread: dict[str, set[str]] = {}

    def report(self, code: str, subject: str, message: str, *origins: Origin, hint: str = "") -> None:
        """Add a finding about one name."""
        self.findings.append(Finding(code, (subject,), message, origins, hint=hint))

    def misread(self, kind: str, name: str) -> None:
        """Remember that a definition could not be understood."""
        self.unread.setdefault(kind, set()).add(name)

    def files(self, folder: str, suffix: str = ".yaml") -> Iterator[Entry]:
        """The files of a kind's folder; links, submodules and misspelt endings are findings."""
        for entry in self.tree.entries(folder):
            name = entry.path.rpartition("/")[2]
            if name.startswith(".") and name != suffix:
                continue
            if entry.kind is not EntryKind.FILE:
                message = f"A {entry.kind.value} stands where a file should."
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
        """A file's document, and where it is not to be trusted.

        The set holds the names under the document's one map of definitions that are wrong, and
        None if something else is.
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
            if not doc.missing(*problem.path):  # that has been told (GC106)
                self.report("GC102", entry.path, problem.message, origin, hint=problem.hint)
        return doc, wrong
