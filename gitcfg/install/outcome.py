"""The outcome of an installation, and its errors: refusals before anything is touched, and failed steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class InstallError(Exception):
    """Why an installation is not possible, in one sentence; `hints` are what to do."""

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints

    def __str__(self) -> str:
        return " ".join((self.message, *self.hints))


class Refused(InstallError):
    """Nothing was touched: this node, its policy or the package itself forbids it."""


class Damaged(InstallError):
    """The record or the journal cannot be read. `set_damaged_aside` renames it to make room for a new one."""


class PackageError(Refused):
    """The data is not a package of gitcfg.node/1."""


class Obstacle(Refused):
    """A link, a folder or a special file is where it must not be."""


class NoRoom(Refused):
    """The file system has too little room."""

    BEGINNING = "The file system of "
    """The beginning of its message, which identifies it in outcomes, since these contain only text."""


class Busy(Refused):
    """Another installation holds the lock."""


class StepFailed(InstallError):
    """A step failed, and the old files are restored."""

    def __init__(
        self, step: str, message: str, command: Sequence[str] = (), code: int | None = None, output: str = ""
    ) -> None:
        super().__init__(message)
        self.step = step
        self.command = tuple(command)
        self.code = code
        self.output = output


def as_step_failure(error: OSError | InstallError) -> StepFailed:
    """Return an error as a failed step."""
    if isinstance(error, StepFailed):
        return error
    if isinstance(error, OSError):
        where = f" {error.filename}" if isinstance(error.filename, str) else ""
        return StepFailed("write files", f"{error.strerror}{where}.")
    return StepFailed("write files", str(error))


OK, UNCHANGED, REFUSED, REVERTED, FAILED = "ok", "unchanged", "refused", "reverted", "failed"


class Outcome(NamedTuple):
    """The outcome of an installation.

    `result` is one of

    - `ok`: the package is installed;
    - `unchanged`: it already was, and nothing was run;
    - `refused`: nothing was touched or run; `output` names all reasons;
    - `reverted`: a step failed; the old files are restored (or were never replaced), their subsystems active;
    - `failed`: the rollback failed as well; `output` describes the present state.

    `step` is the step that failed (`validate startd`), `command` what it ran, `exit` its status (None: it did
    not end by itself), `output` the end of its output. `kept` are paths in the state folder with the content
    of files that others wrote and the installation replaced or removed.
    """

    result: str
    commit: str
    digest: str
    step: str = ""
    command: tuple[str, ...] = ()
    exit: int | None = None
    output: str = ""
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    restarted: tuple[str, ...] = ()
    reloaded: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    def with_failure(self, result: str, failure: StepFailed) -> Outcome:
        """Return the outcome with the step that failed."""
        output = "\n".join(part for part in (str(failure), failure.output) if part)
        return self._replace(
            result=result,
            step=failure.step,
            command=failure.command,
            exit=failure.code,
            output=output,
            changed=(),
            removed=(),
            kept=(),
        )


def with_earlier(outcome: Outcome, earlier: Outcome) -> Outcome:
    """Return an outcome with what the rollback of an earlier installation did, or would do, first."""
    changed = {*outcome.changed, *earlier.changed} - {*outcome.removed}
    removed = {*outcome.removed, *earlier.removed} - changed
    return outcome._replace(
        changed=tuple(sorted(changed)),
        removed=tuple(sorted(removed)),
        restarted=tuple(dict.fromkeys((*outcome.restarted, *earlier.restarted))),
        reloaded=tuple(dict.fromkeys((*outcome.reloaded, *earlier.reloaded))),
        stopped=tuple(dict.fromkeys((*outcome.stopped, *earlier.stopped))),
    )


def outcome_to_json(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data."""
    return outcome._asdict()


def outcome_from_json(data: Mapping[str, Any]) -> Outcome:
    """Return the outcome of plain data that this version wrote."""
    lists = {key: tuple(value) for key, value in data.items() if isinstance(value, (list, tuple))}
    return Outcome(**{**data, **lists})
