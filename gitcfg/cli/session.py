"""An invocation: the global options, the repository of the command, and ways to write output."""

import gc
import os
import sys
from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, TextIO

import msgspec

from gitcfg.cli import progress
from gitcfg.cli.console import Color, Pager, rich_console, uses_color
from gitcfg.cli.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.library import Fleet, Source


class Output(StrEnum):
    """The form of results: text is for people, the rest for programs."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"


class Session(msgspec.Struct, frozen=True):
    """One invocation."""

    repo: str
    color: Color
    today: date | None
    pager: Pager
    progress: Progress = Progress.AUTO

    def open(self) -> "Source":
        """Open the repository."""
        from gitcfg.library import open

        return open(self.repo, self.today, os.geteuid())

    def fleet(self, at: str | None, staged: bool = False) -> "Fleet":
        """Return the fleet at a revision, in the index, or in the work tree."""
        return fleet_of(self.open(), at, staged)

    def console(self, stderr: bool = False) -> "Console":
        """Return a console that never cuts or wraps; results for people go through the pager."""
        stream = sys.stderr if stderr else self.pager.stdout
        leave = progress.clear if stderr else progress.stop
        return rich_console(None if stderr else stream, self.has_color(stream), stream.isatty(), leave)

    def without_pager(self) -> "Session":
        """Return the session for output before a question: leaving a pager early means neither yes nor no."""
        return msgspec.structs.replace(self, pager=Pager(""))

    def has_color(self, stream: TextIO) -> bool:
        """Return whether to use colors on this stream."""
        return uses_color(self.color, os.environ, stream.isatty())

    def write(self, text: str) -> None:
        """Write a result for people unchanged: on a terminal through the pager."""
        stream = self.pager.stdout
        _put(stream, text)
        if stream.isatty():
            stream.flush()  # before any output on stderr


def fleet_of(source: "Source", at: str | None, staged: bool = False) -> "Fleet":
    """Return the fleet of an opened repository: at a revision, in the index, or in the work tree."""
    if at is not None:
        return source.at(at)
    return source.index(os.environ.get("GIT_INDEX_FILE")) if staged else source.worktree()


def begin_long_run() -> None:
    """Prepare a program that may run for months; other commands end before garbage matters."""
    progress.stop()
    gc.enable()


def can_ask() -> bool:
    """Return whether there is a terminal to ask a person on."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask a person a question; anything but yes is no."""
    progress.clear()
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    progress.clear()
    return answer in ("y", "yes")


def write(text: str) -> None:
    """Write a result for programs to stdout unchanged."""
    _put(sys.stdout, text)


def write_bytes(pieces: Iterable[bytes]) -> None:
    """Write a result for programs to stdout, piece by piece."""
    if sys.stdout.isatty():
        progress.stop()
    sys.stdout.buffer.writelines(pieces)


def _put(stream: TextIO, text: str) -> None:
    """Write a text; what UTF-8 cannot encode is escaped, and line ends are unchanged."""
    if stream.isatty():
        progress.stop()
    stream.buffer.write(text.encode("utf-8", "backslashreplace"))
