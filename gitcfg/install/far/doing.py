"""An installation at the far end: in a session of its own, so that it outlives the line it came over."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from ..damaged import set_aside
from ..entry import under_lock
from ..installing import Installing
from ..outcome import OK, REFUSED, REVERTED, UNCHANGED, Outcome, with_earlier
from ..place import Place
from ..policy import Policy
from ..problems import Busy, Damaged, InstallError, NoRoom
from .order import Asked

_SHORT = 10
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Problem(NamedTuple):
    """Why nothing was touched: `kind` is full, busy, sudo or refused."""

    kind: str
    message: str
    hints: tuple[str, ...] = ()


def problem_of(error: InstallError | OSError) -> Problem:
    """What went wrong as a problem."""
    if isinstance(error, InstallError):
        if isinstance(error, NoRoom):
            return Problem("full", str(error))
        kind = "busy" if isinstance(error, Busy) else "refused"
        return Problem(_unless_root(kind), error.message, error.hints)
    where = f" {error.filename}" if isinstance(error.filename, str) else ""
    kind = "full" if error.errno in _NO_ROOM else "refused"
    if isinstance(error, PermissionError):
        kind = _unless_root(kind)
    return Problem(kind, f"{error.strerror or error}{where}.")


def _unless_root(kind: str) -> str:
    """Whatever keeps one who is not root from something is that."""
    return "sudo" if kind == "refused" and os.geteuid() else kind


def put_in_force(place: Place, asked: Asked, stamp: str) -> Outcome | Problem:
    """Install. Of a damaged record or journal the outcome tells, and all is installed anew, as agents do.

    So it does of an installation that died here before this one: nobody else has heard of how it ended.
    """
    installing = Installing(place, asked.package, asked.actions, Policy.everything(), base=asked.base)
    said: list[str] = []
    undone: list[Outcome] = []

    def heard(before: Outcome) -> None:
        said.append(_earlier(before))
        undone.extend([before] if before.result == REVERTED else [])

    try:
        try:
            outcome = under_lock(place, installing, heard)
        except Damaged:
            said.append(set_aside(place, stamp))
            installing.base = ""
            outcome = under_lock(place, installing, heard)
    except (InstallError, OSError) as error:
        found = problem_of(error)
        return found._replace(message=_lines(*said, found.message))
    if outcome.result == REFUSED and outcome.output.startswith("The file system of "):
        return Problem("full", _lines(*said, outcome.output))
    new = asked.package
    if (outcome.commit, outcome.digest) != (new.commit, new.digest):
        # An earlier one that cannot be taken back is in the way, and nothing else was done.
        outcome = outcome._replace(output=_earlier(outcome), commit=new.commit, digest=new.digest)
    for before in undone if outcome.result in (OK, UNCHANGED) else ():
        outcome = with_earlier(outcome, before)._replace(result=OK)  # something was done, if only that
    return outcome._replace(output=_lines(*said, outcome.output))


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _earlier(outcome: Outcome) -> str:
    """What is said of an installation that was interrupted, and has come to its end only now."""
    what = f"An installation of {outcome.commit[:_SHORT]} was interrupted here"
    if outcome.result == OK:
        return f"{what} when all of it was done."
    return f"{what}{' and taken back' if outcome.result == REVERTED else ''}: {outcome.output}"


def apart(work: Callable[[], int]) -> int:
    """Run something in a process with a session of its own, which no hangup of the line reaches.

    The signals are caught and not ignored: what is ignored stays so in the daemons that commands start.
    They are caught before the fork, because one may come right after it, to either process.
    """
    for number in _SIGNALS:
        signal.signal(number, _stay)
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setsid()
            code = work()
        except BaseException:
            sys.excepthook(*sys.exc_info())  # the near end has the end of it
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1


def _stay(number: int, frame: object) -> None:
    """An installation comes to its end, which takes as long as its commands' time limits at most."""


def stamp_of(now: float) -> str:
    """A moment as names of files that are set aside have it."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
