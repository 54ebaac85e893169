"""Update an output folder: plan the nodes' folders, distribute them to workers, report changes."""

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from enum import Enum
from pathlib import Path

import msgspec

import gitcfg.progress as progress
from gitcfg.model import GitcfgError
from gitcfg.output import files
from gitcfg.output.files import Blocked, Linked, NodeFolder, is_safe_node, is_safe_path, read_content
from gitcfg.output.manifest import (
    Journal,
    Manifest,
    Record,
    StateFolder,
    Trace,
    decode_node,
    decode_record,
    encode_record,
    join_records,
    open_manifest,
    open_state,
    read_journal,
    write_manifest,
)
from gitcfg.output.source import File, Source, Unmade
from gitcfg.parallel import spread

CHUNK = 64
"""The number of nodes in one job of a worker: at least 10 ms if there is something to render."""

_LINES = 4096


class Scope(Enum):
    """The nodes of a run: those that it names, or all, so that folders of others are removed."""

    NAMED = "named"
    ALL = "all"


class Task(Enum):
    """What to do with a node's folder."""

    UPDATE = "update"
    CLEAR = "clear"
    LEAVE = "leave"


class Job(msgspec.Struct, frozen=True):
    """A node's folder with its line of the manifest."""

    node: str
    line: bytes
    task: Task


def plan_jobs(
    nodes: Sequence[str], scope: Scope, lines: Iterable[bytes], journal: Mapping[str, Record]
) -> Iterator[Job]:
    """Yield a job for every node that is requested or known, in order of name.

    `nodes` and `lines` are in that order; `journal` has what an interrupted run may have written.
    """
    requested = set(nodes)
    other = Task.CLEAR if scope is Scope.ALL else Task.LEAVE
    for node, line in _join_lines(sorted(requested | journal.keys()), lines):
        if is_safe_node(node):
            yield Job(node, _known_line(node, line, journal), Task.UPDATE if node in requested else other)


def _join_lines(nodes: Sequence[str], lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield nodes with their lines, if they have any: two ordered streams as one."""
    waiting = iter(nodes)
    node = next(waiting, None)
    for line in lines:
        known = decode_node(line)
        while node is not None and node < known:
            yield node, b""
            node = next(waiting, None)
        if node == known:
            node = next(waiting, None)
        yield known, line
    while node is not None:
        yield node, b""
        node = next(waiting, None)


def _known_line(node: str, line: bytes, journal: Mapping[str, Record]) -> bytes:
    if node not in journal:
        return line or encode_record(Record(node, "", ()))
    before = [decode_record(line)] if line else []
    return encode_record(join_records(node, [*before, journal[node]]))


def split_jobs(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Yield jobs in portions for workers; jobs that change nothing hardly count."""
    turn: list[Job] = []
    busy = 0
    for job in jobs:
        turn.append(job)
        busy += job.task is not Task.LEAVE
        if busy == CHUNK or len(turn) == _LINES:
            yield turn
            turn, busy = [], 0
    if turn:
        yield turn


_SECOND = 1_000_000_000
_TICK = _SECOND // 50  # file systems have coarse clocks: 4 ms is usual, 10 ms on slow kernels


class FileComparison(msgspec.Struct, frozen=True):
    """Compares files with their intended content, without reading them if the manifest is sufficient.

    The manifest's information is as of `saved`, in ns: the time when it was saved.
    """

    saved: int

    def knows(self, trace: Trace, state: os.stat_result) -> bool:
        """Return whether a file is unchanged since the manifest.

        A file that was written in the same clock tick as the manifest may have changed later without a trace.
        """
        step = _TICK if trace.mtime % _SECOND else 2 * _SECOND
        same = state.st_size == trace.size and state.st_mtime_ns == trace.mtime
        return same and trace.mtime + step < self.saved

    def all_match(self, home: NodeFolder, record: Record) -> bool:
        """Return whether all files of a record are unchanged, so that nothing needs to be compared."""
        try:
            return all(self._matches(home, trace) for trace in record.files) and home.exists()
        except (Blocked, OSError):
            return False

    def _matches(self, home: NodeFolder, trace: Trace) -> bool:
        state = home.state(trace.path)
        return state is not None and self.knows(trace, state) and mode_of(state) == trace.mode

    def find_right(self, home: NodeFolder, file: File, known: list[Trace]) -> Trace | None:
        """Return the file's trace if its content is right; None: it must be written."""
        state = home.state(file.path)
        if state is None or mode_of(state) != file.mode or state.st_size != len(file.content):
            return None
        if len(known) == 1 and known[0].digest == file.digest and self.knows(known[0], state):
            return known[0]
        return trace_of(file, state) if read_content(home.folder + file.path) == file.content else None


def trace_of(file: File, state: os.stat_result) -> Trace:
    """Return the trace of a file on disk."""
    return Trace(file.path, file.mode, file.digest, state.st_size, state.st_mtime_ns)


def mode_of(state: os.stat_result) -> str:
    """Return a file's mode in the notation of entries."""
    return f"{stat.S_IMODE(state.st_mode):04o}"


class FolderUpdate:
    """The update of one node's folder. `traces` is what is known of the node's files afterwards."""

    def __init__(self, home: NodeFolder, comparison: FileComparison) -> None:
        self.home = home
        self._comparison = comparison
        self.traces: list[Trace] = []
        self.same = self.written = self.removed = self.held = 0
        self.edited: list[str] = []
        self.blocked: dict[str, None] = {}
        self.unmade: list[str] = []

    def is_new(self) -> bool:
        """Return whether the node's own folder does not exist yet."""
        try:
            return not self.home.exists()
        except (Blocked, OSError):
            return False

    def prepare(self) -> None:
        """Create the node's own folder, also for a node without files."""
        try:
            self.home.make("/")
        except (Blocked, OSError) as error:
            self._blocked(error, "")

    def keep_unmade(self, path: str, known: Record) -> None:
        """Record a file that cannot be made; its previous version stays."""
        self.unmade.append(path)
        self.traces += [trace for trace in known.files if trace.path == path]

    def is_right(self, file: File, known: Record) -> bool:
        """Return whether nothing must be written, because the file is right or an obstacle prevents it."""
        claims = [trace for trace in known.files if trace.path == file.path]
        try:
            trace = self._comparison.find_right(self.home, file, claims)
        except (Blocked, OSError) as error:
            self._blocked(error, file.path)
            self.traces += claims
            return True
        if trace is not None:
            self.same += 1
            self.traces.append(trace)
        return trace is not None

    def write(self, file: File, known: Record, spare: str) -> None:
        """Write a file, and create its folders."""
        try:
            self.home.make(file.path)
            state = files.write_file(self.home.folder + file.path, file.content, int(file.mode, 8), spare)
        except (Blocked, OSError) as error:
            self._blocked(error, file.path)
            self.traces += [trace for trace in known.files if trace.path == file.path]
        else:
            self.written += 1
            self.traces.append(trace_of(file, state))

    def remove(self, path: str, known: list[Trace]) -> None:
        """Remove a file if it is a known and unchanged one, and the folders that become empty."""
        try:
            ours = self._ours(path, known)
            if ours:
                os.unlink(self.home.folder + path)
                self.removed += 1
        except (Blocked, OSError) as error:
            self._blocked(error, path)
            self.traces += known
        else:
            if ours is False:
                self.edited.append(path)
                self.traces += known
            else:
                self.home.prune(path)

    def _ours(self, path: str, known: list[Trace]) -> bool | None:
        """Return whether the file at a path is as gitcfg wrote it; None: there is none."""
        try:
            state = self.home.state(path)
        except Linked:
            return False
        except Blocked:
            return None
        if state is None:
            return None
        return files.hash_content(files.read_content(self.home.folder + path)) in {
            trace.digest for trace in known
        }

    def hold(self, known: list[Trace]) -> None:
        """Leave a stale file in place."""
        self.held += 1
        self.traces += known

    def record(self, node: str, made: str) -> Record:
        """Return the record of the node's files, with the fingerprint if nothing is left to do."""
        settled = not (self.held or self.edited or self.blocked or self.unmade)
        return Record(node, made if settled else "", tuple(sorted(self.traces, key=lambda t: t.path)))

    def _blocked(self, error: Blocked | OSError, path: str) -> None:
        self.blocked[files.describe_problem(error, self.home, path)] = None


class Stale(Enum):
    """What to do with files that gitcfg wrote and that are no longer needed."""

    REMOVE = "remove"
    KEEP = "keep"


class FolderChanges(msgspec.Struct, frozen=True):
    """The numbers of files that were right, written, removed, or stale and kept.

    `edited` are the paths, each with its node, of stale files that were changed by others, which stay;
    `blocked` has obstacles to a node's files: "/etc/x is a folder, ..."; `unmade` are files that could not be
    made, whose earlier version stays.
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
    """Updates nodes' folders one by one, for one worker. `spare` is the path for new files."""

    def __init__(
        self, top: str, comparison: FileComparison, journal: Journal, stale: Stale, spare: str
    ) -> None:
        self._top, self._spare = top, spare
        self._comparison, self._journal, self._stale = comparison, journal, stale

    def update(self, known: Record, source: Source) -> tuple[Record, FolderChanges]:
        """Update the folder of a node that exists. Return its new record, and the changes."""
        home = NodeFolder(self._top, known.node)
        fingerprint = source.fingerprint(known.node)
        if fingerprint and known.fingerprint == fingerprint and self._comparison.all_match(home, known):
            return known, FolderChanges(same=len(known.files))
        intended = list(source.files(known.node))
        paths = {file.path for file in intended}
        update = FolderUpdate(home, self._comparison)
        self._drop_stale(update, known, lambda path: path not in paths)
        for file in intended:
            if isinstance(file, Unmade):
                update.keep_unmade(file.path, known)
        files = [file for file in intended if isinstance(file, File)]
        self._write(update, known, [file for file in files if not update.is_right(file, known)])
        return update.record(known.node, fingerprint), _changes_of(known.node, update)

    def _write(self, update: FolderUpdate, known: Record, files: list[File]) -> None:
        """Record in the journal what will be written, then write it, including the node's own folder."""
        if files or update.is_new():
            traces = tuple(Trace(file.path, file.mode, file.digest) for file in files)
            self._journal.write(Record(known.node, "", traces))
        update.prepare()
        for file in files:
            update.write(file, known, self._spare)

    def clear(self, known: Record) -> tuple[Record, FolderChanges]:
        """Clear the folder of a node that no longer exists. Return its remaining record, and the changes."""
        update = FolderUpdate(NodeFolder(self._top, known.node), self._comparison)
        self._drop_stale(update, known, lambda path: True)
        update.home.drop()
        return update.record(known.node, ""), _changes_of(known.node, update)

    def _drop_stale(self, update: FolderUpdate, known: Record, is_stale: Callable[[str], bool]) -> None:
        stale: dict[str, list[Trace]] = {}
        for trace in known.files:
            if is_stale(trace.path) and is_safe_path(trace.path):
                stale.setdefault(trace.path, []).append(trace)
        for path, traces in sorted(stale.items(), reverse=True):  # content before its folder
            if self._stale is Stale.REMOVE:
                update.remove(path, traces)
            else:
                update.hold(traces)


def _changes_of(node: str, update: FolderUpdate) -> FolderChanges:
    return FolderChanges(
        update.same,
        update.written,
        update.removed,
        update.held,
        tuple((node, path) for path in update.edited),
        tuple((node, reason) for reason in update.blocked),
        tuple((node, path) for path in update.unmade),
    )


OpenSource = Callable[[], AbstractContextManager[Source]]
"""Opens a source for one worker: workers cannot share what a source has open."""

Updated = tuple[list[bytes], FolderChanges]
"""The new records of nodes, one per line, and the changes."""


class UpdateRequest(msgspec.Struct, frozen=True):
    """Which nodes to update, where, and with how many workers."""

    top: Path
    nodes: Sequence[str]
    scope: Scope
    stale: Stale
    workers: int


class UpdateOutcome(msgspec.Struct, frozen=True):
    """The changes, and warnings about the folder itself: sentences."""

    changes: FolderChanges
    doubts: tuple[str, ...]


def update_folder(request: UpdateRequest, source: OpenSource) -> UpdateOutcome:
    """Update a folder to what a source has for the nodes.

    Raise GitcfgError if another gitcfg writes there, the disk is full, ... After any interruption, each file
    has its complete old or new content, and the next run knows which files are gitcfg's.
    """
    with open_state(request.top) as state, open_manifest(state.manifest) as known:
        return UpdateOutcome(_update(request, source, state, known), tuple(_find_doubts(state, known)))


def _update(request: UpdateRequest, source: OpenSource, state: StateFolder, known: Manifest) -> FolderChanges:
    settled, nodes = FolderChanges(), 0
    try:
        with (
            write_manifest(state, known) as new,
            closing(_spread(request, source, state, known)) as updates,
        ):
            for lines, done in updates:
                for line in lines:
                    new.add(line)
                nodes, settled = nodes + len(lines), settled + done
                progress.note("writing the folders of nodes", total=len(request.nodes), done=nodes)
        state.journal.unlink(missing_ok=True)
    except OSError as error:
        hint = f"{nodes} nodes' folders are done. Every file is complete: the old or the new version."
        message = f"{error.filename or request.top}: {error.strerror or error}."
        raise GitcfgError(message, hint, "Run the command again to continue.") from error
    return settled


def _spread(
    request: UpdateRequest, source: OpenSource, state: StateFolder, known: Manifest
) -> Generator[Updated, None, None]:
    @contextmanager
    def work() -> Iterator[Callable[[list[Job]], Updated]]:
        spare = str(state.spare / str(os.getpid()))
        with source() as opened, closing(Journal(state.journal)) as journal:
            comparison = FileComparison(known.saved)
            writer = FolderWriter(str(request.top), comparison, journal, request.stale, spare)
            yield lambda jobs: _do_jobs(jobs, writer, opened)

    jobs = plan_jobs(request.nodes, request.scope, known.lines, read_journal(state.journal))
    few = request.scope is Scope.NAMED and len(request.nodes) <= CHUNK
    return spread(work, split_jobs(jobs), 1 if few else request.workers)


def _do_jobs(jobs: list[Job], writer: FolderWriter, source: Source) -> Updated:
    lines, done = [], FolderChanges()
    for job in jobs:
        line = job.line
        if job.task is not Task.LEAVE:
            before = decode_record(line)
            clear = job.task is Task.CLEAR
            after, what = writer.clear(before) if clear else writer.update(before, source)
            done += what
            line = line if after is before else encode_record(after)
            if clear and not after.files:
                continue
        lines.append(line)
    return lines, done


def _find_doubts(state: StateFolder, known: Manifest) -> Iterator[str]:
    if known.problem:
        yield f"{state.manifest} {known.problem}: gitcfg compared all files, and removed none."
    if not state.locked:
        yield f"{state.top} is on a file system without locks: never let two processes write there at once."
