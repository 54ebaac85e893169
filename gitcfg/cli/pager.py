"""The pager: on a terminal, results for eyes go through it, as git's do."""

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import IO, Any, TextIO

from gitcfg.cli.color import capable
from gitcfg.cli.streams import Kept, Pipe

_SETTINGS = {"LESS": "FRX", "LV": "-c"}
"""As git has it: less ends by itself if all fits on the screen, shows colours, and leaves its text there."""


def pager_command(asked: str | None, environ: Mapping[str, str]) -> str:
    """What to page with, nothing for no paging: what is asked for, else GITCFG_PAGER, PAGER, less."""
    said = (asked, environ.get("GITCFG_PAGER"), environ.get("PAGER"))
    chosen = next((text for text in said if text is not None), None)
    if chosen is None:
        chosen = "less" if capable(environ) and shutil.which("less") else ""
    return "" if chosen.strip() == "cat" else chosen.strip()


class Pager:
    """A way to stdout for results; the pager starts when the first of them comes.

    While it runs, what goes to a terminal's stderr is kept, and told when it has ended: among the pages
    it would be lost.
    """

    def __init__(self, command: str) -> None:
        self.command = command if command and sys.stdout.isatty() else ""
        self._pipe = Pipe(self._start)
        self._stream: TextIO | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._hint = ""

    @property
    def stdout(self) -> TextIO:
        """Where results go. The way into a pager counts as the terminal that it leads to."""
        if not self.command:
            return sys.stdout
        if self._stream is None:
            raw: Any = self._pipe  # typeshed has BufferedWriter take files only
            buffered = io.BufferedWriter(raw)
            self._stream = io.TextIOWrapper(buffered, "utf-8", "backslashreplace", write_through=True)
        return self._stream

    def _start(self) -> IO[bytes]:
        if not _is_there(self.command):
            self._hint = f"There is no pager {self.command!r}: name another with GITCFG_PAGER or --pager."
            return sys.stdout.buffer
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", self.command], stdin=subprocess.PIPE, bufsize=0, env=_SETTINGS | os.environ
        )
        if sys.stderr.isatty():
            sys.stderr = Kept(sys.stderr)
        assert self._process.stdin is not None
        return self._process.stdin

    def __enter__(self) -> "Pager":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait until the reader has read. BrokenPipeError: they left before the end."""
        try:
            if self._stream is not None:
                self._stream.close()
        except BrokenPipeError:
            if error is None:
                raise
        finally:
            self._pipe.end()
            if self._process is not None:
                _wait(self._process)
            if isinstance(sys.stderr, Kept):
                sys.stderr = sys.stderr.told()
            if self._hint:
                sys.stdout.flush()
                print(f"hint: {self._hint}", file=sys.stderr)


def _is_there(command: str) -> bool:
    """Can the program be run that a command line begins with, behind settings of variables?"""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    name = next((word for word in words if "=" not in word), "")
    return shutil.which(name) is not None


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Until the pager has ended; an interrupt meanwhile is for the pager."""
    assert process.stdin is not None
    process.stdin.close()
    while True:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue
        return
