"""Reading one kind of definition: its files, its schema, its findings, and the names that it defines."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Protocol, overload

import msgspec

from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load import document, schema
from gitcfg.load.document import Document
from gitcfg.model import Finding, Origin, Ref
from gitcfg.model.names import shown
from gitcfg.sandbox import progress


class Reading(msgspec.Struct):
    """A tree while it is read: its findings so far, and the definitions that could not be read."""

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
        """Yield the files of a kind's folder; links, submodules and misspelt endings are findings."""
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
        """Return a file's document, and where it is not to be trusted.

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


# What is wrong with the files of a tree, and what could not be understood: complete when it is asked for.


class Part(Protocol):
    """What of a tree is read by itself, such as the definitions of a kind."""

    def findings(self) -> Iterable[Finding]:
        """Everything that is wrong with it: all of it is read."""
        ...

    def so_far(self) -> Iterable[Finding]:
        """Return what is known to be wrong without reading more."""
        ...


class Known:
    """A part that has been read: settings, names."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings = tuple(findings)

    def findings(self) -> Iterable[Finding]:
        return self._findings

    def so_far(self) -> Iterable[Finding]:
        return self._findings


class Findings(Sequence[Finding]):
    """The findings of all parts, in their order. To ask for one, or how many, reads everything."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        self._all: tuple[Finding, ...] | None = None

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._whole()[index]

    def __len__(self) -> int:
        return len(self._whole())

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._whole())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._whole() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def so_far(self) -> tuple[Finding, ...]:
        """Return those of what has been read until now."""
        return tuple(finding for part in self._parts for finding in part.so_far())

    def _whole(self) -> tuple[Finding, ...]:
        if self._all is None:
            self._all = tuple(finding for part in self._parts for finding in part.findings())
        return self._all


class Definitions(Protocol):
    """Definitions of which some may not be understood."""

    def misread(self, name: str) -> bool: ...

    def all_misread(self) -> Iterable[str]: ...


class Misread(Set[str]):
    """The names that could not be understood. Whether one is among them reads no more than that one."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._definitions.misread(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions.all_misread())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @classmethod
    def _from_iterable(cls, names: Iterable[str]) -> Set[str]:  # type: ignore[override]
        return frozenset(names)


class Unread(Mapping[str, Set[str]]):
    """What could not be understood by kind; only kinds of which there is some are in it."""

    def __init__(self, kinds: Mapping[str, Definitions]) -> None:
        self._kinds = {kind: Misread(definitions) for kind, definitions in kinds.items()}

    def __getitem__(self, kind: str) -> Set[str]:
        return self._kinds[kind]

    def __iter__(self) -> Iterator[str]:
        return (kind for kind, names in self._kinds.items() if names)

    def __len__(self) -> int:
        return sum(1 for _ in self)


# Which definitions a folder holds: legal names, each once, none differing only in case (GC103).


class Register:
    """The names of one kind; one that is taken, or nearly, is a finding."""

    def __init__(self, reading: Reading, noun: str, pattern: re.Pattern[str]) -> None:
        self.reading = reading
        self.noun = noun
        self.pattern = pattern
        self.places: dict[str, Origin] = {}
        self.folded: dict[str, str] = {}

    def admit(self, name: str, origin: Origin) -> bool:
        """Return whether this name may be defined here; report why not."""
        if not self.pattern.fullmatch(name):
            self.reading.report("GC103", name, f"{shown(name)!r} is no name for a {self.noun}.", origin)
            return False
        first = self.folded.setdefault(name.casefold(), name)
        if name in self.places:
            message = f"The {self.noun} {name} is defined twice."
            self.reading.report("GC103", name, message, origin, self.places[name])
            return False
        if first != name:
            self.near(name, first, origin)
        self.places[name] = origin
        return True

    def near(self, name: str, first: str, origin: Origin) -> None:
        names = (min(name, first), max(name, first))
        message = f"The {self.noun}s {names[0]} and {names[1]} differ only in case."
        self.reading.findings.append(Finding("GC103", names, message, (origin, self.places[first])))


def once(reading: Reading, refs: Iterable[Ref], banned: str = "") -> tuple[Ref, ...]:
    """Return the names of a list, each once; a second mention and the banned one are findings."""
    kept: dict[str, Ref] = {}
    for ref in refs:
        if ref.name in kept:
            message = f"{shown(ref.name)} stands twice in this list."
            reading.report("GC103", ref.name, message, ref.origin, kept[ref.name].origin)
        elif banned and ref.name == banned:
            message = f"{ref.name} is the default group: every node is in it without being told."
            reading.report("GC103", ref.name, message, ref.origin, hint="Take it out of the list.")
        else:
            kept[ref.name] = ref
    return tuple(kept.values())
