"""What the global options say, and the repository that commands work on."""

import os
import sys
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.library import Fleet, Source


class Color(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


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

    def open(self) -> "Source":
        """The repository."""
        from gitcfg.library import open

        return open(self.repo, self.today)

    def fleet(self, at: str | None, staged: bool = False) -> "Fleet":
        """The fleet at a revision, in the index, or in the work tree."""
        source = self.open()
        if at is not None:
            return source.at(at)
        return source.index(os.environ.get("GIT_INDEX_FILE")) if staged else source.worktree()

    def console(self, stderr: bool = False) -> "Console":
        """A console that never cuts or wraps what it is given; `--color` beats NO_COLOR beats FORCE_COLOR."""
        from gitcfg.cli.terminal import Terminal

        plain = self.color is Color.NEVER or (self.color is Color.AUTO and bool(os.environ.get("NO_COLOR")))
        forced = self.color is Color.ALWAYS or (
            not plain and self.color is Color.AUTO and bool(os.environ.get("FORCE_COLOR"))
        )
        return Terminal(
            stderr=stderr,
            soft_wrap=True,
            highlight=False,
            markup=False,
            emoji=False,
            no_color=plain,
            force_terminal=True if forced else False if plain else None,
            color_system="standard" if forced else "auto",
        )


def write(text: str) -> None:
    """Text to stdout as it is; what UTF-8 cannot say is escaped."""
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
