"""A guard: a child process without privileges handles hostile input, and may die of it without harm."""

import contextlib
import math
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import msgspec

from gitcfg.sandbox.protocol import (
    HEADER,
    OUT_OF_MEMORY,
    GuardError,
    Killed,
    Limits,
    OutOfMemory,
    TimeUp,
    encoded,
    frame,
    length,
    size_in_words,
)


class Closing(ABC):
    """A context manager that closes itself at its end."""

    @abstractmethod
    def close(self) -> None:
        """Close it."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


# Why a child ended, from its status and the end of its standard error.


def _explain_end(status: int | None, stderr: str, limits: Limits) -> GuardError:
    """Return the error for a status; None means that the child has not ended yet."""
    if status == -signal.SIGPROF:
        return TimeUp(f"took longer than {limits.cpu_seconds:g} s of processor time", stderr)
    if status == OUT_OF_MEMORY or "bad_alloc" in stderr or "MemoryError" in stderr:
        return OutOfMemory(f"used more than {size_in_words(limits.memory)} of memory", stderr)
    if status is None:
        return GuardError("stopped answering", stderr)
    if status < 0:
        kind = Killed if status == -signal.SIGKILL else GuardError
        return kind(f"ended by {signal.Signals(-status).name}", stderr)
    last = stderr.strip().rpartition("\n")[2][:300]
    return GuardError(f"ended with status {status}" + (f": {last}" if last else ""), stderr)


# One running child, from the guard's side: start it, ask it, end it, and explain its end.

_BOOT = (
    "import sys; sys.path[:] = sys.argv[2:]; import runpy; runpy.run_module(sys.argv[1], run_name='__main__')"
)
"""Equivalent to `-m MODULE`, which under -I would not find a package that is not installed."""

_OURS = str(Path(__file__).parents[2])
"""The path of gitcfg itself, in case `sys.path` has it only as a relative one."""

_CHUNK = 1 << 16
_STDERR = 1 << 13
_LAST_WORDS = 1.0


def start(module: str, limits: Limits) -> "Child":
    """Return a child that has received its limits. It has no environment and writes no bytecode."""
    ours, theirs = socket.socketpair()
    path = [*(entry for entry in sys.path if os.path.isabs(entry)), _OURS]
    folder, process = tempfile.mkdtemp(prefix="gitcfg-guard-"), None
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, module, *path],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env={},
            start_new_session=True,
        )
    except OSError as error:
        raise GuardError(f"could not be started: {error.strerror}") from error
    finally:
        theirs.close()
        if process is None:  # also at Ctrl-C
            ours.close()
            shutil.rmtree(folder, ignore_errors=True)
    return Child(process, ours, folder, limits)


class Child:
    """A process at the other end of a socket; waits end after the limits."""

    def __init__(
        self, process: subprocess.Popen[bytes], line: socket.socket, folder: str, limits: Limits
    ) -> None:
        assert process.stderr is not None
        self._process, self._line, self._folder, self._limits = process, line, folder, limits
        self._owner = os.getpid()
        self._unsent = memoryview(frame(msgspec.msgpack.encode(limits)))
        self._answer = bytearray()
        self._complaints = process.stderr.fileno()
        self._stderr = b""
        self._seconds = self._deadline = math.inf
        self._poll = select.poll()
        self._poll.register(self._complaints, select.POLLIN)
        os.set_blocking(self._complaints, False)
        line.setblocking(False)

    @property
    def running(self) -> bool:
        """Whether the child takes requests. False in a fork, where it is the parent's."""
        return self._owner == os.getpid() and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def line(self) -> tuple[int, int]:
        """What to poll before `answer` is useful: a file descriptor, and the events of `poll`."""
        return self._line.fileno(), select.POLLIN | (select.POLLOUT if self._unsent else 0)

    def ask(self, message: bytes, within: float = math.inf) -> bytes:
        """Return the answer to one request. After a GuardError, end the child."""
        self.post(message, within)
        answer = None
        while answer is None:
            answer = self.answer(self._limits.wall_seconds)
        return answer

    def post(self, message: bytes, within: float = math.inf) -> None:
        """Send a request without waiting for the answer; the previous answer must have been read."""
        self._unsent = memoryview(bytes(self._unsent) + frame(message))
        self._answer.clear()
        self._poll.register(self._line, select.POLLIN | select.POLLOUT)
        self._seconds = min(within, self._limits.wall_seconds)
        self._deadline = time.monotonic() + self._seconds
        self._send()

    def answer(self, seconds: float) -> bytes | None:
        """Return the answer to the posted request; None after `seconds` without it. For errors, see `ask`."""
        until = min(time.monotonic() + seconds, self._deadline)
        while not self._answered():
            late, had = time.monotonic() >= self._deadline, len(self._answer)
            moved = self._exchange(until)
            if late and len(self._answer) == had:  # an answer that arrived meanwhile is accepted
                raise GuardError(f"gave no answer within {self._seconds:g} s")
            if not moved and time.monotonic() >= until < self._deadline:
                return None
        return bytes(self._answer[HEADER:])

    def end(self) -> None:
        """Kill the child with everything it started, reap it, and remove its folder."""
        self._line.close()
        if self._process.stderr:
            self._process.stderr.close()
        if self._owner != os.getpid():
            self._process.returncode = 0  # the parent's child, which this process cannot reap
            return
        try:
            if self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        finally:  # also if Ctrl-C interrupts the wait
            shutil.rmtree(self._folder, ignore_errors=True)

    def _answered(self) -> bool:
        if len(self._answer) < HEADER:
            return False
        if length(self._answer) > self._limits.answer:
            raise GuardError(f"wrote more than {size_in_words(self._limits.answer)}")
        return len(self._answer) >= HEADER + length(self._answer)

    def _exchange(self, until: float) -> bool:
        """Send and receive what is possible, and wait until something is. Return whether anything moved."""
        events = self._poll.poll(max(0.0, until - time.monotonic()) * 1000)
        for source, event in events:
            if source == self._complaints:
                self._listen()
            elif event == select.POLLOUT:
                self._send()
            else:
                self._receive()
        return bool(events)

    def _send(self) -> None:
        # Without SIGPIPE, which may end the program.
        with contextlib.suppress(ConnectionError, BlockingIOError):
            self._unsent = self._unsent[self._line.send(self._unsent, socket.MSG_NOSIGNAL) :]
        if not self._unsent:
            self._poll.modify(self._line, select.POLLIN)

    def _receive(self) -> None:
        data = b""
        with contextlib.suppress(ConnectionError):
            data = self._line.recv(_CHUNK)
        self._answer += data
        if not data:
            raise self._end_error()

    def _listen(self) -> None:
        data = os.read(self._complaints, _CHUNK)
        self._stderr = (self._stderr + data)[-_STDERR:]
        if not data:
            self._poll.unregister(self._complaints)

    def _end_error(self) -> GuardError:
        """Return the error for its end, with the rest of its stderr."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS)
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._complaints, _CHUNK):
                self._stderr = (self._stderr + data)[-_STDERR:]
        return _explain_end(self._process.poll(), self._stderr.decode(errors="replace"), self._limits)


_USUAL_LIMITS = Limits()


class Guard(Closing):
    """Requests to a module that calls `serve`, in one child for many of them.

    The child starts with the first request and again after it died. `opening`, if given, is the first request
    to every child (its answer is dropped). Linux ends a child with the thread that started it; the next
    request then starts another.
    """

    def __init__(self, module: str, limits: Limits = _USUAL_LIMITS, opening: Any = None) -> None:
        self._module, self._limits = module, limits
        self._opening = None if opening is None else msgspec.msgpack.encode(opening)
        self._child: Child | None = None
        self._end: Callable[[], Any] | None = None
        self._turn = threading.Lock()
        self._opened_with: bytes | None = None

    def reopen(self, opening: Any) -> None:
        """Use this opening from now on. A child that had another one gets it before the next request."""
        message = msgspec.msgpack.encode(opening)
        if message != self._opening:
            self._opening = message

    def begin(self) -> None:
        """Start the child before the first request, so that it initializes in the meantime."""
        with self._turn:
            self._start()

    def request(self, payload: Any, within: float = math.inf) -> Any:
        """Return the handler's answer; both are plain data. Raise GuardError if the child died before it.

        `within` is a limit in seconds, if it is below that of the child.
        """
        message = encoded(payload)
        with self._turn:
            answer = self._ask_with_retry(message, within)
        return msgspec.msgpack.decode(answer)

    def post(self, message: bytes) -> None:
        """Send an encoded request without waiting. The next one may follow after the answer."""
        with self._turn:
            self._start().post(message)

    def answer(self) -> bytes | None:
        """Return the encoded answer to what was posted, None if it is not there; errors as for `request`."""
        if self._child is None:
            raise GuardError("was closed")
        answered = False
        try:
            answer = self._child.answer(0.0)
            answered = True
            return answer
        finally:
            if not answered:
                self.close()

    @property
    def pid(self) -> int | None:
        """The number of the child's process, if there is a child, even if it has ended."""
        return None if self._child is None else self._child.pid

    @property
    def line(self) -> tuple[int, int] | None:
        """What to poll until an answer may be there; see `wait`."""
        return None if self._child is None else self._child.line

    def close(self) -> None:
        """End the child. A later request starts another."""
        end, self._end, self._child = self._end, None, None
        if end is not None:
            end()

    def _ask_with_retry(self, message: bytes, within: float) -> bytes:
        """Ask again in a new child if memory ran out: earlier requests may have used it."""
        used = self._child is not None and self._child.running
        try:
            return self._ask(message, within)
        except OutOfMemory:
            if not used:
                raise
            return self._ask(message, within)

    def _ask(self, message: bytes, within: float) -> bytes:
        answered = False
        try:
            answer = self._start().ask(message, within)
            answered = True
            return answer
        finally:
            if not answered:
                self.close()

    def _start(self) -> Child:
        if self._child is None or not self._child.running:
            self.close()
            self._child = start(self._module, self._limits)
            # Without a call of close, neither a process nor a folder is left behind.
            self._end = weakref.finalize(self, self._child.end)
            self._opened_with = None
        if self._opening is not None and self._opened_with is not self._opening:
            self._child.ask(self._opening)
            self._opened_with = self._opening
        return self._child


def wait(guards: Iterable[Guard], seconds: float) -> None:
    """Wait until a guard with a posted request can continue, at most this long."""
    poll = select.poll()
    for line in (guard.line for guard in guards):
        if line is not None:
            poll.register(*line)
    poll.poll(seconds * 1000)
