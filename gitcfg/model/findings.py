"""Findings, origins (file, line and column), and GitcfgError."""

from enum import StrEnum

import msgspec


class Origin(msgspec.Struct, frozen=True, order=True, gc=False):
    """A place in a file of a repository; line and column count from 1, in characters."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Ref(msgspec.Struct, frozen=True, order=True, gc=False):
    """A name, and its place."""

    name: str
    origin: Origin


# Findings: what is wrong with a configuration. They are collected, not raised.


class Severity(StrEnum):
    """An error makes a check fail; a warning does not."""

    ERROR = "error"
    WARNING = "warning"


class Finding(msgspec.Struct, frozen=True, order=True):
    """Something wrong with a configuration.

    `subjects` are the names that it is about, `origins` all places involved, and `nodes` the nodes concerned,
    sorted (empty for what is wrong with a file or a definition). `veiled`: the text at its places may be a
    secret in plain text, and must not be shown. `cause`: the code and the subjects of the finding that caused
    this one, if any.
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
        """Whether it makes a check fail."""
        return self.severity is Severity.ERROR

    @property
    def fact(self) -> tuple[str, ...]:
        """Its code and subjects, by which other findings name it as their cause."""
        return self.code, *self.subjects


# The one exception: a command cannot be done.

REFUSED = 4
"""The exit code of a command that refuses because something prevents it."""


class GitcfgError(Exception):
    """The reason why a command cannot be done, with its exit code (2 usage, 4 refused, ...)."""

    def __init__(self, message: str, *hints: str, code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints
        self.code = code
