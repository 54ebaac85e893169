"""A pseudo-terminal that programs run in, with somebody who types and reads."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

PATIENCE = 60.0
"""Seconds after which a program is taken to hang; how long it takes is judged nowhere."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78Mc])")


class Terminal:
    """A program in a terminal of its own: `seen` is all that it has shown."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, rows: int = 24
    ) -> None:
        self.ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
        self.process = subprocess.Popen(
            list(command),
            env={"GITCFG_PROGRESS": "never", **environment},
            cwd=folder,
            preexec_fn=lambda: os.login_tty(theirs),
        )
        os.close(theirs)
        self.seen = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.ours)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.ours, text.encode())

    def until(self, pattern: str, since: int = 0) -> str:
        """Read until what is shown since a place, colours aside, matches. AssertionError: it never does."""
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, plain(self.seen[since:])):
            assert time.monotonic() < end, f"{pattern!r} never came:\n{self.seen}"
            assert self.read(), f"it ended before {pattern!r} came:\n{self.seen}"
        return self.seen[since:]

    def end(self, key: str = "") -> int:
        """Read on until the program has ended, pressing a key now and then: its exit code."""
        end = time.monotonic() + PATIENCE
        while self.read():
            if key:
                self.type(key)
            assert time.monotonic() < end, f"it never ends:\n{self.seen}"
        return self.process.wait(PATIENCE)

    def read(self) -> bool:
        """A bit more of what is shown; False when there will be no more."""
        if not select.select([self.ours], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self.ours, 1 << 16)
        except OSError:  # Linux says so when nobody has the terminal open any more
            return False
        self.seen += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


def plain(text: str) -> str:
    """What is shown, without colours and the like."""
    return _ESCAPES.sub("", text)
