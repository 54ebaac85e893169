"""What the global options say, and the repository that commands work on."""

import os
import sys
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TextIO

import msgspec

from gitcfg.cli.color import Color, capable, coloured
from gitcfg.cli.pager import Pager

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.library import Fleet, Source


class Output(StrEnum):
    """What to write results as: text is for eyes, the rest for programs."""

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

    def open(self) -> "Source":
        """The repository."""
        from gitcfg.library import open

        return open(self.repo, self.today, os.geteuid())

    def fleet(self, at: str | None, staged: bool = False) -> "Fleet":
        """The fleet at a revision, in the index, or in the work tree."""
        return fleet_of(self.open(), at, staged)

    def console(self, stderr: bool = False) -> "Console":
        """A console that never cuts or wraps what it is given; results for eyes go through the pager."""
        from gitcfg.cli.terminal import Terminal

        stream = sys.stderr if stderr else self.pager.stdout
        colors = self.coloured(stream)
        system: Literal["auto", "standard"] = (
            "auto" if stream.isatty() and capable(os.environ) else "standard"
        )
        return Terminal(
            file=None if stderr else stream,
            stderr=stderr,
            soft_wrap=True,
            highlight=False,
            markup=False,
            emoji=False,
            no_color=not colors,
            force_terminal=colors,
            color_system=system if colors else None,
        )

    def coloured(self, stream: TextIO) -> bool:
        """Is what goes to this stream to be coloured?"""
        return coloured(self.color, os.environ, stream.isatty())

    def write(self, text: str) -> None:
        """A result for eyes, as it is: on a terminal through the pager."""
        stream = self.pager.stdout
        _put(stream, text)
        if stream.isatty():
            stream.flush()  # before what may be said on stderr next


def fleet_of(source: "Source", at: str | None, staged: bool = False) -> "Fleet":
    """The fleet of an opened repository: at a revision, in the index, or in the work tree."""
    if at is not None:
        return source.at(at)
    return source.index(os.environ.get("GIT_INDEX_FILE")) if staged else source.worktree()


def write(text: str) -> None:
    """A result for programs to stdout, as it is."""
    _put(sys.stdout, text)


def _put(stream: TextIO, text: str) -> None:
    """What UTF-8 cannot say is escaped, and no line end is changed."""
    stream.buffer.write(text.encode("utf-8", "backslashreplace"))
