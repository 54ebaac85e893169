"""Records of deploys: a file for each run, with lines of JSON for its begin, its nodes and its end."""

import contextlib
import fcntl
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository

MOST_OUTPUT = 8192
"""The number of characters of a node's last output that are kept."""
WELL = ("ok", "unchanged")
"""The outcomes after which a node has the commit: there is nothing left to do."""
MOST_RUNS = 100
LAST = "last"
"""The newest run that can be read; no id has these letters."""
_SUFFIX = ".jsonl"
_END = 1024
_ID = re.compile(r"[0-9a-hj-km-np-tv-z]{10}")
_SHORTEST = 3
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # without i, l, o and u, which are easily misread
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LARGEST = 512 * 1024 * 1024
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Run(msgspec.Struct, frozen=True, tag_field="what", tag="begun"):
    """A deploy at its begin: its nodes in the order of their turns.

    `begun` is in seconds since the epoch. `reason` is given if the commit was not reviewed. `resumes` is the
    run whose unfinished nodes this one continues with.
    """

    id: str
    commit: str
    who: str
    reason: str
    begun: float
    nodes: tuple[str, ...]
    resumes: str = ""
    schema: Literal["gitcfg.deploy-run/1"] = "gitcfg.deploy-run/1"


class NodeDone(msgspec.Struct, frozen=True, tag_field="what", tag="node"):
    """The result of a node. `outcome` is one word; `step` is what failed, `output` its output.

    `commit` and `digest` are what is now installed on the node, None if unknown; `changed` is the number of
    written files. `agent` is that of the node: none, "installed" or "running". `at` is the time.
    """

    node: str
    outcome: str
    step: str = ""
    output: str = ""
    seconds: float = 0.0
    changed: int = 0
    commit: str | None = None
    digest: str | None = None
    agent: str = ""
    at: float = 0.0


class Ended(msgspec.Struct, frozen=True, tag_field="what", tag="ended"):
    """How a run ended: `done`, `limit`, `interrupted`, `output`, `fault`; `because` is the reason."""

    how: str
    at: float = 0.0
    because: str = ""


class Reported(msgspec.Struct, frozen=True, tag_field="what", tag="told"):
    """Where the run was reported with all its nodes: a server's address, or `database`."""

    place: str
    at: float = 0.0


Line = Run | NodeDone | Ended | Reported
_LINE: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


class RunRecord(msgspec.Struct, frozen=True):
    """A run as its file has it. `going` means that it is running; `broken` counts unreadable lines."""

    run: Run
    done: Mapping[str, NodeDone] = {}
    end: Ended | None = None
    reported: Reported | None = None
    going: bool = False
    broken: int = 0

    @property
    def ended(self) -> str:
        """How the run ended, in one word; also `running`, and `broken off` if its program was killed."""
        if self.end is not None:
            return self.end.how
        return "running" if self.going else "broken off"


class RunFile(msgspec.Struct, frozen=True):
    """A file of a deploy: its run, or a problem with it. Without both, the deploy never began."""

    id: str
    record: RunRecord | None = None
    problem: str = ""


def find_unfinished(record: RunRecord) -> tuple[str, ...]:
    """Return the nodes that do not have the commit after a run, in the order of their turns."""
    well = {name for name, done in record.done.items() if done.outcome in WELL}
    return tuple(name for name in record.run.nodes if name not in well)


def encode_line(line: Line) -> bytes:
    """Encode a line, with its line end. Codes in a program's output that are not characters become `?`."""
    if isinstance(line, NodeDone):
        output = _end_of(line.output).encode("utf-8", "replace").decode()
        line = replace(line, output=output)
    return msgspec.json.encode(line) + b"\n"


def _end_of(output: str) -> str:
    """Return the last whole lines (or a part of a very long one), after the number of omitted characters."""
    over = len(output) - MOST_OUTPUT
    if over <= 0:
        return output
    begin = output.find("\n", over - 1) + 1
    if not 0 < begin <= over + MOST_OUTPUT // 2:
        begin = over
    return f"... {begin} characters before\n{output[begin:]}"


def parse_run(data: bytes, going: bool = False) -> RunRecord | None:
    """Parse a file, which may end anywhere; None if it never began. Raise ValueError for any other file."""
    *lines, _torn = data.split(b"\n")
    if not lines:
        return None
    run = _decode_line(lines[0])
    if not isinstance(run, Run):
        raise ValueError("it does not begin with the record of a deploy")
    known = frozenset(run.nodes)
    done: dict[str, NodeDone] = {}
    end, reported, broken = None, None, 0
    for text in lines[1:]:
        line = _decode_line(text)
        if isinstance(line, NodeDone) and line.node in known:
            done[line.node] = line
        elif isinstance(line, Ended):
            end = line
        elif isinstance(line, Reported):
            reported = line
        else:
            broken += bool(text)
    return RunRecord(run, done, end, reported, going, broken)


def _decode_line(text: bytes) -> Line | None:
    try:
        return _LINE.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def read_file(path: Path) -> tuple[bytes, bool]:
    """Read a file, and whether it is being written. That is checked first, so that no line is missed."""
    with open_file(path) as file:
        at_work = is_being_written(file)
        if os.fstat(file).st_size > _LARGEST:
            raise ValueError("it is too large")
        with open(file, "rb", closefd=False) as text:
            return text.read(_LARGEST), at_work


@contextlib.contextmanager
def open_file(path: Path) -> Iterator[int]:
    """Open a regular file as a descriptor. Raise OSError or ValueError if it cannot be read."""
    file = os.open(path, _OPEN)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError("it is not a regular file")
        yield file
    finally:
        os.close(file)


def is_being_written(file: int) -> bool:
    """Return whether the file's writer is alive: it holds a lock, which ends with its process."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def runs_folder(shared: Path) -> Path:
    """Return where runs are recorded; `shared` is the folder that all work trees of a repository share."""
    return shared / "gitcfg-deploys"


def find_runs_folder(repository: "Repository") -> Path:
    """Return where the runs of a repository are recorded. Raise GitcfgError if it is not a git repository."""
    if repository.shared is None:
        repository.git_or_error("you cannot deploy from it")
    assert repository.shared is not None
    return runs_folder(repository.shared)


def run_file(folder: Path, run: str) -> Path:
    """Return the file of a run."""
    return folder / f"{run}{_SUFFIX}"


def list_ids(folder: Path) -> list[str]:
    """List the runs that have a file, newest first. Raise GitcfgError if the folder cannot be read."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        hint = "To deploy from this repository, you must be able to read and write this folder."
        raise GitcfgError(f"Cannot read the folder {folder}: {error.strerror}.", hint) from None
    found = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
    return sorted(filter(_ID.fullmatch, found), reverse=True)


def read_runs(folder: Path) -> Iterator[RunFile]:
    """Yield all runs, newest first, each read when it is requested."""
    return (read_run(folder, run) for run in list_ids(folder))


def runs(folder: Path) -> Iterator[RunRecord]:
    """Yield the runs that can be read, newest first."""
    return (file.record for file in read_runs(folder) if file.record is not None)


def runs_in_order(folder: Path) -> Iterator[RunRecord]:
    """Yield the runs in the order in which they began."""
    files = (read_run(folder, run) for run in reversed(list_ids(folder)))
    return (file.record for file in files if file.record is not None)


def find_unreported(folder: Path) -> Iterator[RunRecord]:
    """Yield the runs that have ended and are not reported, in the order in which they began."""
    pending = (run for run in reversed(list_ids(folder)) if not _ends_as_reported(run_file(folder, run)))
    records = (read_run(folder, run).record for run in pending)
    return (one for one in records if one is not None and one.reported is None and not one.going)


def _ends_as_reported(path: Path) -> bool:
    """Read only the file's end: reading 100 runs of 10,000 nodes took 2.2 s of CPU time after each deploy."""
    with contextlib.suppress(OSError, ValueError), open_file(path) as file:
        end = os.pread(file, _END, max(0, os.fstat(file).st_size - _END))
        return b'{"what":"told",' in end
    return False


def read_run(folder: Path, run: str) -> RunFile:
    """Read the file of a run."""
    file = run_file(folder, run)
    try:
        data, at_work = read_file(file)
        record = parse_run(data, at_work)
    except OSError as error:
        return RunFile(run, problem=f"Cannot read {file}: {error.strerror}.")
    except ValueError as error:
        return RunFile(run, problem=f"{file} is not a record of a deploy: {error}.")
    if record is not None and record.run.id != run:
        return RunFile(run, problem=f"{file} is the record of another deploy.")
    return RunFile(run, record)


def find_run(folder: Path, text: str) -> RunRecord:
    """Find a run by its id, a unique begin or end of it, or `last`. Raise GitcfgError if there is none."""
    if text == LAST:
        last = next(runs(folder), None)
        if last is None:
            raise GitcfgError("There is no deploy from this repository yet.", "Run `gitcfg deploy` first.")
        return last
    known = list_ids(folder)
    low = text.lower()
    near = [run for run in known if len(low) >= _SHORTEST and (run.startswith(low) or run.endswith(low))]
    hint = "Run `gitcfg deploys` to list them."
    if not near:
        raise GitcfgError(f"There is no deploy {shown(text)}.", hint)
    if len(near) > 1:
        raise GitcfgError(f"{shown(text)} matches {len(near)} deploys.", hint)
    file = read_run(folder, near[0])
    if file.record is None:
        raise GitcfgError(file.problem or f"The deploy {file.id} never began.", hint)
    return file.record


def prune_runs(folder: Path, most: int = MOST_RUNS) -> None:
    """Remove the oldest runs, but never one that is being written."""
    for run in list_ids(folder)[most:]:
        with contextlib.suppress(OSError, ValueError), open_file(run_file(folder, run)) as file:
            if not is_being_written(file):
                run_file(folder, run).unlink()


def run_id(now: float) -> str:
    """Return a new run's id: nine digits of its time, the last two within a second, and a random one."""
    number = int(now * 1024)
    return "".join(_DIGITS[number >> shift & 31] for shift in range(40, -1, -5)) + secrets.choice(_DIGITS)


class Recorder:
    """The writer of a run's file: each line is written at once. For several threads at once.

    `fault` is why lines are missing in the file; they are tried again with each further line.
    """

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._clock = clock
        self._file: int | None = None
        self._waiting: list[bytes] = []
        self._torn = False
        self._lock = threading.Lock()
        self.fault = ""

    def begun(self, run: Run) -> None:
        """Create the file, and remove the oldest. Raise GitcfgError if that fails: then begin nothing."""
        try:
            # Only their owner may read them. The first folder is also that of the cache, which requires this.
            for folder in (self._folder.parent, self._folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            prune_runs(self._folder, MOST_RUNS - 1)
            self._file = os.open(run_file(self._folder, run.id), _CREATE, 0o600)
        except OSError as error:
            raise self._impossible(run, error.strerror or str(error)) from None
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(self._file, fcntl.LOCK_EX)
        self._write(run)
        self._sync()
        if self.fault:
            self.close()
            with contextlib.suppress(OSError):
                run_file(self._folder, run.id).unlink()
            raise self._impossible(run, self.fault)

    def node(self, done: NodeDone) -> None:
        """Record that a node has finished; set `at` if it is missing."""
        self._write(done if done.at else replace(done, at=self._clock()))

    def ended(self, how: str, because: str = "") -> None:
        """Record how the run ended: `done`, `limit`, `interrupted`, `output` or `fault`; close the file."""
        self._write(Ended(how, self._clock(), because))
        self._sync()
        self.close()

    def close(self) -> None:
        """Stop writing; a run that has not ended is broken off."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
            self._file = None

    def _write(self, line: Line) -> None:
        with self._lock:
            self._waiting.append(encode_line(line))
            while self._waiting and self._try_write(self._waiting[0]):
                del self._waiting[0]

    def _try_write(self, text: bytes) -> bool:
        """Write in one call, so that no other line is inside it. After a torn line, begin a new one."""
        if self._file is None:
            self.fault = "the file is closed"
            return False
        whole = b"\n" + text if self._torn else text
        try:
            count = os.write(self._file, whole)
        except OSError as error:
            self.fault = error.strerror or str(error)
            return False
        self._torn = count < len(whole)
        self.fault = "no space is left" if self._torn else ""
        return not self._torn

    def _sync(self) -> None:
        with self._lock:
            if self._file is not None:
                try:
                    os.fsync(self._file)
                    _sync_folder(self._folder)
                except OSError as error:
                    self.fault = error.strerror or str(error)

    def _impossible(self, run: Run, why: str) -> GitcfgError:
        hint = "Nothing was started. You must be able to write there, and the disk must have free space."
        return GitcfgError(f"Cannot record the deploy in {run_file(self._folder, run.id)}: {why}.", hint)


def note_reported(folder: Path, run: str, where: str, at: float) -> None:
    """Record where a run was reported. Raise GitcfgError if that fails: another report does no harm."""
    try:
        append_line(folder, run, Reported(where, at))
    except OSError as error:
        hint = "The next deploy reports it again."
        raise GitcfgError(f"Cannot write {run_file(folder, run)}: {error.strerror}.", hint) from None


def append_line(folder: Path, run: str, line: Line) -> None:
    """Append a line to the file of a run that has ended. Raise OSError if it cannot be written."""
    opened = os.open(run_file(folder, run), _APPEND)
    try:
        os.write(opened, b"\n" + encode_line(line))  # a torn line before it stays separate
    finally:
        os.close(opened)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
