"""Commands, run without a shell, with a minimal environment and a time limit; secrets are redacted.

A process that has secrets in memory dumps no core; the programs that it starts may still dump theirs.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import subprocess


class Clock(Protocol):
    """A clock, and a way to wait."""

    def now(self) -> float:
        """Return the seconds of a monotonic clock."""

    def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""


class SystemClock:
    """The clock of the system."""

    def now(self) -> float:
        """Return the seconds since some fixed moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""
        time.sleep(seconds)


# The output: values of secrets are removed before it is kept or shown.

SHORTEST = 6
"""Characters of the shortest word that is redacted: shorter ones occur in any text."""
INSTEAD = b"<secret>"

_SHOWN = re.compile(r"<secret [^<>\n]* v[0-9]+>")


class Redaction(NamedTuple):
    """The words to redact, longest first."""

    words: tuple[bytes, ...] = ()

    @property
    def longest(self) -> int:
        """The length of the longest word, in bytes."""
        return len(self.words[0]) if self.words else 0

    def redact(self, text: bytes) -> bytes:
        """Return the text with these words replaced."""
        for word in self.words:
            text = text.replace(word, INSTEAD)
        return text


NONE = Redaction()


def make_redaction(files: Iterable[tuple[bytes, bytes]]) -> Redaction:
    """Return the words in which files' true contents differ from the contents that are shown."""
    found = {word for shown, true in files for word in _words(shown, true)}
    return Redaction(tuple(sorted((word.encode() for word in found), key=lambda word: (-len(word), word))))


def _words(shown: bytes, true: bytes) -> Iterator[str]:
    """Yield the lines that only the true content has, and their parts in the place of a secret's name."""
    lines = shown.decode(errors="replace").splitlines()
    with_names = [_SHOWN.split(line) for line in lines if _SHOWN.search(line)]
    for line in set(true.decode(errors="replace").splitlines()).difference(lines):
        for word in (line, *(value for parts in with_names for value in _between(line, parts))):
            yield from (one for one in {word.strip(), _plain(word)} if len(one) >= SHORTEST)


def _between(line: str, parts: list[str]) -> Iterator[str]:
    """Yield the parts of a line between some texts; nothing if the line does not contain them."""
    if not line.startswith(parts[0]) or not line.endswith(parts[-1]):
        return
    rest = line[len(parts[0]) : len(line) - len(parts[-1])]
    for text in parts[1:-1]:
        value, _, rest = rest.partition(text) if text else (rest, "", "")
        yield value
    yield rest


def _plain(word: str) -> str:
    """Return a word without the escapes of JSON; "" if it has none."""
    if "\\" in word:
        import json

        with suppress(ValueError):
            return str(json.loads(f'"{word}"')).strip()
    return ""


OUTPUT = 4096
"""Bytes of output that are kept, from the end."""


class OutputTail:
    """The end of a command's output, without the redacted words."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._end = b""
        self._cut = False

    def add(self, more: bytes) -> None:
        """Add output. Keep enough of it that a redacted word is complete if a part of it could be shown."""
        output = self._end + more
        self._end = output[-(OUTPUT + self._redaction.longest) :]
        self._cut = self._cut or len(output) > len(self._end)

    @property
    def text(self) -> str:
        """The end of the output, redacted; a line that begins in the middle of a secret is left out."""
        output = self._end
        if self._cut and self._redaction.words:
            output = output.partition(b"\n")[2] or output[self._redaction.longest :]
        return self._redaction.redact(output)[-OUTPUT:].decode(errors="replace")


# Running a command.

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/", "SHELL": "/bin/sh"}
_TICK, _DYING = 0.05, 2.0
NOT_RUN = 127
_GATE = ("/bin/sh", "-c", 'read -r go && exec "$@" < /dev/null', "sh")


class CommandResult(NamedTuple):
    """The result of a command. `code` is the exit status, negative for a signal, None if it timed out."""

    code: int | None
    output: str

    @property
    def ok(self) -> bool:
        """Whether the command succeeded."""
        return self.code == 0


def run_command(
    command: Sequence[str],
    timeout: float,
    clock: Clock,
    started: Callable[[int], None] | None = None,
    redaction: Redaction = NONE,
) -> CommandResult:
    """Run a command to its end. A daemon that it starts keeps running, unless the command times out.

    `started` gets the number of the process before the command begins: a shell waits until `started` returns
    and then becomes the command, so that an unrecorded process never runs. A daemon must not write to the
    output that it inherits: no one reads it later.
    """
    import subprocess

    try:
        process = subprocess.Popen(
            [*(_GATE if started else ()), *command],
            stdin=subprocess.PIPE if started else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=ENVIRONMENT,
            cwd="/",
            umask=0o022,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return CommandResult(NOT_RUN, f"Cannot run {command[0]}: {why}.")
    try:
        restore_core_limit(process.pid)
        if started is not None:
            started(process.pid)
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin as gate:
                gate.write(b"go\n")
        return _follow(process, clock.now() + timeout, clock, OutputTail(redaction))
    finally:
        if process.poll() is None:
            _kill(process)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def _follow(
    process: subprocess.Popen[bytes], until: float, clock: Clock, output: OutputTail
) -> CommandResult:
    """Read until the process itself has ended: its children may hold the output open forever."""
    import subprocess

    assert process.stdout is not None
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while process.poll() is None:
            if clock.now() >= until:
                _kill(process)
                output.add(_read_pending(pipe))
                return CommandResult(None, output.text)
            if selector.select(_TICK):
                more = _read_pending(pipe)
                output.add(more)
                if not more:
                    # The output is closed, but the process has not ended.
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(max(0.0, min(_TICK, until - clock.now())))
    output.add(_read_pending(pipe))
    return CommandResult(process.returncode, output.text)


def _read_pending(pipe: int) -> bytes:
    try:
        return os.read(pipe, 1 << 16)
    except BlockingIOError:
        return b""


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the command with everything that it started and that did not leave its group.

    A process that hangs in the kernel (a dead file server) does not die of this, and is not waited for.
    """
    import subprocess

    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_DYING)


# Core dumps.

_before: list[tuple[int, int]] = []


def forbid_core_dumps() -> None:
    """Make this process dump no core from now on."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if not _before:
        _before.append((soft, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def restore_core_limit(process: int) -> None:
    """Give a foreign program the limit that this process started with."""
    if _before:
        import resource

        with suppress(OSError):
            resource.prlimit(process, resource.RLIMIT_CORE, _before[0])


# Processes that outlived the installation that started them.


def start_time(pid: int) -> int:
    """Return when a process started, in ticks of the kernel; 0 if it is gone.

    The time distinguishes it from a later process of the same number.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def kill_orphan(process: tuple[int, int] | None) -> None:
    """Kill the command of a killed installation, if it still runs."""
    if process is None or process[1] == 0 or start_time(process[0]) != process[1]:
        return
    with suppress(ProcessLookupError):
        os.killpg(process[0], signal.SIGKILL)
