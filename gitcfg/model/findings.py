"""Findings, origins (file, line and column), and GitcfgError."""

from enum import StrEnum

import msgspec


class Origin(msgspec.Struct, frozen=True, order=True, gc=False):
    """A place in a repository's file; line and column count from 1, in characters."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Ref(msgspec.Struct, frozen=True, order=True, gc=False):
    """A name, and where it was written."""

    name: str
    origin: Origin


# What is wrong with a configuration: collected, never thrown.


class Severity(StrEnum):
    """An error makes a check fail; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class Finding(msgspec.Struct, frozen=True, order=True):
    """One fact that should not be so.

    `subjects` are the names it is about, `origins` every place that took part, and `nodes` the
    nodes concerned, sorted (empty for what is wrong with a file or a definition). `veiled`: what stands at
    its places may be a secret in plain text, and is shown to nobody. `cause`: the code and the subjects of
    the finding from which this one follows, if it follows from one.
    """

    code: str
    subjects: tuple[str, ...]
    message: str
    origins: tuple[Origin, ...] = ()
    nodes: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR
    hint: str = ""
    veiled: bool = False
    cause: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        """Return whether it makes a check fail."""
        return self.severity is Severity.ERROR

    @property
    def fact(self) -> tuple[str, ...]:
        """Its code and subjects, by which others name it as their cause."""
        return self.code, *self.subjects


# The one exception: what makes a command impossible.

REFUSED = 4
"""The exit code of what is not done because something is in the way."""


class GitcfgError(Exception):
    """What makes a command impossible, with its exit code (interfaces: 2 usage, 4 refused, ...)."""

    def __init__(self, message: str, *hints: str, code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints
        self.code = code
