"""The outcome of an installation, as a value that is reported and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .errors import StepFailed

OK, UNCHANGED, REFUSED, REVERTED, FAILED = "ok", "unchanged", "refused", "reverted", "failed"


class Outcome(NamedTuple):
    """`result` is one of

    - `ok`: the package is in force;
    - `unchanged`: it already was, nothing was run;
    - `refused`: nothing was touched and nothing run; `output` names everything that stood against it;
    - `reverted`: a step failed; the old files are back (or never left) and their subsystems active;
    - `failed`: going back failed as well; `output` says what stands now.

    `step` is the step that failed (`validate startd`), `command` what it ran, `exit` its status (None: it did
    not end by itself), `output` the end of what it said. `kept` are paths in the state folder that hold what
    somebody else had written where a file was replaced or removed.
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
    """Return an outcome with what rolling back an earlier installation did, or would do, on the way."""
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
    """As plain data."""
    return outcome._asdict()


def outcome_from_json(data: Mapping[str, Any]) -> Outcome:
    """From plain data that this version wrote."""
    lists = {key: tuple(value) for key, value in data.items() if isinstance(value, (list, tuple))}
    return Outcome(**{**data, **lists})
