"""One running child, seen from the guard: start it, ask it, end it, and say how it ended."""

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
import time
from pathlib import Path

import msgspec

from gitcfg.sandbox.epitaph import epitaph
from gitcfg.sandbox.frames import HEADER, frame, length
from gitcfg.sandbox.limits import GuardError, Limits, size_in_words

_BOOT = (
    "import sys; sys.path[:] = sys.argv[2:]; import runpy; runpy.run_module(sys.argv[1], run_name='__main__')"
)
"""As `-m MODULE`, which under -I would not find a package that is not installed."""

_OURS = str(Path(__file__).parents[2])
"""Where gitcfg itself is, should `sys.path` have it by a relative name only."""

_CHUNK = 1 << 16
_STDERR = 1 << 13
_LAST_WORDS = 1.0


def start(module: str, limits: Limits) -> "Child":
    """A child that has been told its limits. It sees no environment and writes no bytecode."""
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
        if process is None:  # Ctrl-C, too
            ours.close()
            shutil.rmtree(folder, ignore_errors=True)
    return Child(process, ours, folder, limits)


class Child:
    """A process at the other end of a socket, waited for no longer than the limits allow."""

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
        """Can it be asked? Not what a fork inherited: that is the parent's to talk to."""
        return self._owner == os.getpid() and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def line(self) -> tuple[int, int]:
        """What to wait for until it is worth asking for the answer: a file descriptor, and `poll` events."""
        return self._line.fileno(), select.POLLIN | (select.POLLOUT if self._unsent else 0)

    def ask(self, message: bytes, within: float = math.inf) -> bytes:
        """The answer to one request. After a GuardError the child must be ended."""
        self.post(message, within)
        answer = None
        while answer is None:
            answer = self.answer(self._limits.wall_seconds)
        return answer

    def post(self, message: bytes, within: float = math.inf) -> None:
        """Ask without waiting for the answer, once the one before was taken."""
        self._unsent = memoryview(bytes(self._unsent) + frame(message))
        self._answer.clear()
        self._poll.register(self._line, select.POLLIN | select.POLLOUT)
        self._seconds = min(within, self._limits.wall_seconds)
        self._deadline = time.monotonic() + self._seconds
        self._send()

    def answer(self, seconds: float) -> bytes | None:
        """The answer to what was posted, or None if it does not come in so many seconds. As `ask`."""
        until = min(time.monotonic() + seconds, self._deadline)
        while not self._answered():
            late, had = time.monotonic() >= self._deadline, len(self._answer)
            moved = self._exchange(until)
            if late and len(self._answer) == had:  # what was ready all the same is taken
                raise GuardError(f"gave no answer within {self._seconds:g} s")
            if not moved and time.monotonic() >= until < self._deadline:
                return None
        return bytes(self._answer[HEADER:])

    def end(self) -> None:
        """Kill it with everything it started, reap it, and remove its folder."""
        self._line.close()
        if self._process.stderr:
            self._process.stderr.close()
        if self._owner != os.getpid():
            self._process.returncode = 0  # the parent's child: nothing for this process to reap
            return
        try:
            if self._process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        finally:  # whoever is waiting may press Ctrl-C once more
            shutil.rmtree(self._folder, ignore_errors=True)

    def _answered(self) -> bool:
        if len(self._answer) < HEADER:
            return False
        if length(self._answer) > self._limits.answer:
            raise GuardError(f"wrote more than {size_in_words(self._limits.answer)}")
        return len(self._answer) >= HEADER + length(self._answer)

    def _exchange(self, until: float) -> bool:
        """Send and receive what can be, waiting for that if nothing can. Did anything move?"""
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
        # No SIGPIPE: the program may let that end it.
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
            raise self._epitaph()

    def _listen(self) -> None:
        data = os.read(self._complaints, _CHUNK)
        self._stderr = (self._stderr + data)[-_STDERR:]
        if not data:
            self._poll.unregister(self._complaints)

    def _epitaph(self) -> GuardError:
        """How it ended, its last words included."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS)
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._complaints, _CHUNK):
                self._stderr = (self._stderr + data)[-_STDERR:]
        return epitaph(self._process.poll(), self._stderr.decode(errors="replace"), self._limits)
