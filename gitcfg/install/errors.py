"""The errors of an installation: refusals before anything is touched, and steps that failed."""

from __future__ import annotations

from collections.abc import Sequence


class InstallError(Exception):
    """Why an installation cannot be, in one sentence; `hints` say what to do."""

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints

    def __str__(self) -> str:
        return " ".join((self.message, *self.hints))


class Refused(InstallError):
    """Nothing was touched: this node, its policy or the package itself forbids it."""


class Damaged(InstallError):
    """The record or the journal cannot be read. `set_aside` makes room for new ones."""


class PackageError(Refused):
    """What was sent is not a package of gitcfg.node/1."""


class Obstacle(Refused):
    """A link, a folder or a special file stands where it must not."""


class NoRoom(Refused):
    """The file system has no room for it."""


class Busy(Refused):
    """Another installation holds the lock."""


class StepFailed(InstallError):
    """A step was tried and failed: the old files go back."""

    def __init__(
        self, step: str, message: str, command: Sequence[str] = (), code: int | None = None, output: str = ""
    ) -> None:
        super().__init__(message)
        self.step = step
        self.command = tuple(command)
        self.code = code
        self.output = output


def as_step_failure(error: OSError | InstallError) -> StepFailed:
    """Return an error as a step that failed."""
    if isinstance(error, StepFailed):
        return error
    if isinstance(error, OSError):
        where = f" {error.filename}" if isinstance(error.filename, str) else ""
        return StepFailed("write files", f"{error.strerror}{where}.")
    return StepFailed("write files", str(error))
