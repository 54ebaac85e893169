"""Work in a process of its own. It is killed with its children if it costs too much or its client is gone."""

import contextlib
import ctypes
import os
import resource
import select
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from enum import Enum
from types import FrameType
from typing import NoReturn

import msgspec

import gitcfg.progress as progress

_TIME_UP, _OUT_OF_MEMORY = 77, 78  # exit statuses of work that ended itself for that reason

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PAUSE = 0.1  # seconds between two measurements: in between, the process's own limit bounds its memory
_BRIEFLY = 0.005
_BUSY = 10
_CLOSELY = 1.0  # seconds between two exact measurements, which take 15 ms for a process of 500 MiB
_GRACE = 15.0  # seconds in which work that must end may save its results
_PAGE = resource.getpagesize()
_RECEIVES = b"receive-pack"


class Budget(msgspec.Struct, frozen=True):
    """The limits of work: seconds by the clock, and bytes of memory of all processes together.

    Seconds in which the work only waits for a processor do not count until the total is ten times the limit,
    because a busy machine is not the fault of the work.
    """

    seconds: float = 60.0
    memory: int = 1 << 30


class End(Enum):
    """Why work was ended."""

    TIME = "time"
    MEMORY = "memory"
    CLIENT = "client"
    FAULT = "fault"


class Ended(msgspec.Struct, frozen=True):
    """Why work was ended, and during which step; for a fault, also the signal."""

    why: End
    at: str
    signal: int = 0


class TimeUp(BaseException):
    """The time is up: the work may save its results, and must end."""


def divide(
    budget: Budget, client: "Client | None" = None, listener: progress.Listener | None = None
) -> Ended | int | None:
    """Continue in a new process, which gets None; watch it from this one.

    This process gets the new one's exit status, or why it was ended. Ten times a second, the listener gets
    the step of the new process. All processes that the new one starts are ended with it, also if this one
    ends, or the client that waits for it.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    progress.share()
    folder = tempfile.mkdtemp(prefix="gitcfg-work-")
    watcher = os.getpid()
    process = os.fork()
    if process == 0:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != watcher:
            os._exit(_OUT_OF_MEMORY)
        _begin(budget, folder)
        return None
    try:
        return _watch(process, budget, client, listener)
    finally:  # also where a signal ends this process
        _kill_all()
        shutil.rmtree(folder, ignore_errors=True)


def end_work(why: End) -> NoReturn:
    """End this process, for time or memory, so that its watcher reports the reason."""
    with contextlib.suppress(OSError, MemoryError):
        sys.stdout.flush()
    os._exit(_TIME_UP if why is End.TIME else _OUT_OF_MEMORY)


def _begin(budget: Budget, folder: str) -> None:
    # A killed process cannot remove its folders, so all of them are in one.
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    signal.signal(signal.SIGALRM, _time_up)
    # Not the address space: git's packs are mapped, and their pages in memory can be dropped at any time.
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = budget.memory + budget.memory // 4  # the watcher notices first, unless the memory grows very fast
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _time_up(number: int, frame: FrameType | None) -> NoReturn:
    raise TimeUp


def _watch(
    process: int, budget: Budget, client: "Client | None", listener: progress.Listener | None
) -> Ended | int:
    """Wait for the end of the work, or for a reason to end it."""
    poll = select.poll()
    lines = client.lines if client is not None else ()
    for descriptor in lines:
        poll.register(descriptor, 0)  # errors only: the reader is gone
    own = _opened(process)
    if own is not None:
        poll.register(own, select.POLLIN)
    start, closely, most = time.monotonic(), 0.0, 0
    late, stopped_at = budget.seconds, ""
    while True:
        moved = dict(poll.poll(_PAUSE * 1000))
        pid, status = os.waitpid(process, os.WNOHANG)
        now = time.monotonic()
        if pid:
            return _ended(status, most > budget.memory // 2, stopped_at)
        progress.relay(listener)
        if any(descriptor in moved for descriptor in lines) or (client is not None and client.is_gone()):
            return Ended(End.CLIENT, _describe_last())
        most = _private(_family())
        if now >= closely and most > budget.memory:
            closely = now + _CLOSELY
            if _proportional(_family()) > budget.memory:
                return Ended(End.MEMORY, _describe_last())
        spent = now - start
        if max(spent / _BUSY, spent - _waited(process)) >= late:
            if stopped_at:
                return Ended(End.TIME, stopped_at)
            late, stopped_at = late + _GRACE, _describe_last() or "starting"
            os.kill(process, signal.SIGALRM)


def _waited(process: int) -> float:
    """Return the seconds in which a process was ready to run but had no processor."""
    words = _read(process, "schedstat").split()
    return int(words[1]) / 1e9 if len(words) > 1 else 0.0


def _describe_last() -> str:
    step = progress.last()
    return f"{step.doing} {step.name}".strip() if step is not None else ""


def _ended(status: int, large: bool, stopped_at: str) -> Ended | int:
    """Return the meaning of an exit status. Without memory, libraries may fail in any way.

    After a request to stop, the reason is the step at that time, not a later one.
    """
    code = os.waitstatus_to_exitcode(status)
    if code == _TIME_UP:
        return Ended(End.TIME, stopped_at or _describe_last())
    if code == _OUT_OF_MEMORY or (code < 0 and large):
        return Ended(End.MEMORY, _describe_last())
    return Ended(End.FAULT, _describe_last(), -code) if code < 0 else code


def _opened(process: int) -> int | None:
    try:
        return os.pidfd_open(process)
    except OSError:  # an old kernel: the end is noticed at the next measurement
        return None


class Client:
    """The client of the work: the readers of its output, and the program that receives the push."""

    def __init__(self) -> None:
        self.lines = tuple(descriptor for descriptor in (1, 2) if _is_line(descriptor))
        self._links = tuple(_links(os.getpid()))

    def is_gone(self) -> bool:
        """Return whether a program that waits for this one, or the client of that program, has ended."""
        return any(_parent(process) != parent for process, parent in self._links)


def _is_line(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _links(process: int) -> Iterator[tuple[int, int]]:
    """Yield processes with their parents, up to the parent of the receiver: the client, or its server.

    Processes above may end while the client runs, for example the shell that started it. git itself does not
    notice that its client is gone while a hook prints nothing.
    """
    found = [(process, os.getppid())]
    while found[-1][1] > 1:
        parent = found[-1][1]
        if _RECEIVES in _read(found[-1][0], "cmdline") and _RECEIVES not in _read(parent, "cmdline"):
            yield from found
            return
        found.append((parent, _parent(parent)))
    yield found[0]


def _parent(process: int) -> int:
    text = _read(process, "stat")
    return int(text.rpartition(b")")[2].split()[1]) if text else 0


def _read(process: int, name: str) -> bytes:
    try:
        with open(f"/proc/{process}/{name}", "rb") as file:
            return file.read()
    except OSError:  # it has ended
        return b""


def _family() -> list[int]:
    """Return all descendants of this process: orphans among them get this one as their parent."""
    found = list[int]()
    pending = [os.getpid()]
    while pending:
        process = pending.pop()
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{process}/task"):
                children = [*map(int, _read(process, f"task/{thread}/children").split())]
                found += children
                pending += children
    return found


def _private(processes: Iterable[int]) -> int:
    """Return the bytes of memory that belong to no file; memory shared by forks counts for each."""
    sizes = (_read(process, "statm").split() for process in processes)
    return sum((int(size[1]) - int(size[2])) * _PAGE for size in sizes if size)


def _proportional(processes: Iterable[int]) -> int:
    """Return the same, but count memory that processes share only once."""
    total = 0
    for process in processes:
        text = _read(process, "smaps_rollup")
        lines = dict(line.split(b":", 1) for line in text.splitlines()[1:] if b":" in line)
        kibibytes = lines.get(b"Pss_Anon") or lines.get(b"Pss")
        total += int(kibibytes.split()[0]) << 10 if kibibytes else _private([process])
    return total


def _kill_all() -> None:
    """Kill and reap the remaining descendants, also those that start in the meantime."""
    until = time.monotonic() + _GRACE
    while (family := _family()) and time.monotonic() < until:
        for process in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                """Repeat until no ended child is left."""
        time.sleep(_BRIEFLY)
