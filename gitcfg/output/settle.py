"""What is done to nodes' folders to put them right, and what came of it."""

from collections.abc import Callable
from enum import Enum

import msgspec

from gitcfg.output.journal import Journal
from gitcfg.output.places import NodeFolder, is_safe_path
from gitcfg.output.record import Record, Trace
from gitcfg.output.source import File, Source, Unmade
from gitcfg.output.standing import Witness
from gitcfg.output.visit import Visit


class Stale(Enum):
    """What becomes of files that gitcfg wrote and that nothing means any more."""

    REMOVE = "remove"
    KEEP = "keep"


class FolderChanges(msgspec.Struct, frozen=True):
    """How many files were right, written, removed, or stale and to be kept.

    `edited` are the paths, each with its node, of stale files that somebody changed, which stay; `blocked`
    says what is in the way of a node's files: "/etc/x is a folder, ..."; `unmade` are files that could not be
    made, of which what was there before stays.
    """

    same: int = 0
    written: int = 0
    removed: int = 0
    held: int = 0
    edited: tuple[tuple[str, str], ...] = ()
    blocked: tuple[tuple[str, str], ...] = ()
    unmade: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: "FolderChanges") -> "FolderChanges":
        return FolderChanges(*(getattr(self, name) + getattr(other, name) for name in self.__struct_fields__))


class FolderWriter:
    """Puts nodes' folders right one by one: a worker's tools. `spare` is where it makes its files."""

    def __init__(self, top: str, witness: Witness, journal: Journal, stale: Stale, spare: str) -> None:
        self._top, self._spare = top, spare
        self._witness, self._journal, self._stale = witness, journal, stale

    def update(self, known: Record, source: Source) -> tuple[Record, FolderChanges]:
        """A node that there is: what is then known of it, and what was done."""
        home = NodeFolder(self._top, known.node)
        fingerprint = source.fingerprint(known.node)
        if fingerprint and known.fingerprint == fingerprint and self._witness.all_match(home, known):
            return known, FolderChanges(same=len(known.files))
        meant = list(source.files(known.node))
        paths = {file.path for file in meant}
        visit = Visit(home, self._witness)
        self._leave(visit, known, lambda path: path not in paths)
        for file in meant:
            if isinstance(file, Unmade):
                visit.lack(file.path, known)
        files = [file for file in meant if isinstance(file, File)]
        self._write(visit, known, [file for file in files if not visit.is_right(file, known)])
        return visit.record(known.node, fingerprint), _changes_of(known.node, visit)

    def _write(self, visit: Visit, known: Record, files: list[File]) -> None:
        """Say what is about to be made, then make it: the node's own folder, too."""
        if files or visit.is_new():
            traces = tuple(Trace(file.path, file.mode, file.digest) for file in files)
            self._journal.write(Record(known.node, "", traces))
        visit.prepare()
        for file in files:
            visit.write(file, known, self._spare)

    def clear(self, known: Record) -> tuple[Record, FolderChanges]:
        """A node that is gone: what is still known of it, and what was done."""
        visit = Visit(NodeFolder(self._top, known.node), self._witness)
        self._leave(visit, known, lambda path: True)
        visit.home.drop()
        return visit.record(known.node, ""), _changes_of(known.node, visit)

    def _leave(self, visit: Visit, known: Record, is_stale: Callable[[str], bool]) -> None:
        stale: dict[str, list[Trace]] = {}
        for trace in known.files:
            if is_stale(trace.path) and is_safe_path(trace.path):
                stale.setdefault(trace.path, []).append(trace)
        for path, traces in sorted(stale.items(), reverse=True):  # what is in a folder goes before it
            if self._stale is Stale.REMOVE:
                visit.remove(path, traces)
            else:
                visit.hold(traces)


def _changes_of(node: str, visit: Visit) -> FolderChanges:
    return FolderChanges(
        visit.same,
        visit.written,
        visit.removed,
        visit.held,
        tuple((node, path) for path in visit.edited),
        tuple((node, reason) for reason in visit.blocked),
        tuple((node, path) for path in visit.unmade),
    )
