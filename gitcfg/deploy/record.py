"""Records a deploy while it runs: each line is in its file at once, whatever ends the program."""

import contextlib
import fcntl
import os
import secrets
import threading
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from gitcfg.deploy.record_files import MOST_RUNS, folder_of, place, prune, runs
from gitcfg.deploy.record_lines import Ended, Kept, Line, NodeDone, Run, Told, encoded, unfinished
from gitcfg.model import GitcfgError

__all__ = ["Kept", "NodeDone", "Recorder", "Run", "folder_of", "run_id", "runs", "unfinished"]

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # without i, l, o and u, which are read as others
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def run_id(now: float) -> str:
    """A new run's id: its second in seven digits and what is over in two, so that ids sort by time, and one
    by chance.
    """
    number = int(now * 1024)
    return "".join(_DIGITS[number >> shift & 31] for shift in range(40, -1, -5)) + secrets.choice(_DIGITS)


class Recorder:
    """The file of one run, below `folder` (`folder_of`); several threads may use it at once.

    `fault` is why lines are not in the file; they are tried again with each further one.
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
        """Begin the file; runs from long ago are dropped. GitcfgError: it cannot be kept: do not begin."""
        try:
            _make(self._folder)
            prune(self._folder, MOST_RUNS - 1)
            self._file = os.open(place(self._folder, run.id), _CREATE, 0o600)
        except OSError as error:
            raise self._impossible(run, error.strerror or str(error)) from None
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(self._file, fcntl.LOCK_EX)
        self._write(run)
        self._kept()
        if self.fault:
            self.close()
            with contextlib.suppress(OSError):
                place(self._folder, run.id).unlink()
            raise self._impossible(run, self.fault)

    def node(self, done: NodeDone) -> None:
        """A node is done with; `at` is set where it is not."""
        self._write(done if done.at else replace(done, at=self._clock()))

    def ended(self, how: str, because: str = "") -> None:
        """The run is over: `done`, `limit`, `interrupted`, `output`, `fault`. The file is closed."""
        self._write(Ended(how, self._clock(), because))
        self._kept()
        self.close()

    def close(self) -> None:
        """Write no more; a run that has not ended is broken off."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
            self._file = None

    def _write(self, line: Line) -> None:
        with self._lock:
            self._waiting.append(encoded(line))
            while self._waiting and self._written(self._waiting[0]):
                del self._waiting[0]

    def _written(self, text: bytes) -> bool:
        """In one go: else another line could stand in its middle. After a torn line a new one begins."""
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
        self.fault = "no room is left" if self._torn else ""
        return not self._torn

    def _kept(self) -> None:
        """What stands in the file is on the disk."""
        with self._lock:
            if self._file is not None:
                try:
                    os.fsync(self._file)
                    _sync(self._folder)
                except OSError as error:
                    self.fault = error.strerror or str(error)

    def _impossible(self, run: Run, why: str) -> GitcfgError:
        hint = "Nothing was begun. Who deploys must be able to write there, and the disk must have room."
        return GitcfgError(f"The deploy cannot be recorded in {place(self._folder, run.id)}: {why}.", hint)


def told(folder: Path, run: str, where: str, at: float) -> None:
    """Note whom a run was told. GitcfgError: it cannot be; then it is told again, which harms nobody."""
    try:
        append(folder, run, Told(where, at))
    except OSError as error:
        hint = "The next deploy tells it again."
        raise GitcfgError(f"{place(folder, run)} cannot be written: {error.strerror}.", hint) from None


def append(folder: Path, run: str, line: Line) -> None:
    """Another line in the file of a run that is over. OSError: it cannot be written."""
    opened = os.open(place(folder, run), _APPEND)
    try:
        os.write(opened, b"\n" + encoded(line))  # what was torn before it stays by itself
    finally:
        os.close(opened)


def _make(folder: Path) -> None:
    """Only their owner looks into them; the first one is also that of the cache, which wants just that."""
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, exist_ok=True)


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
