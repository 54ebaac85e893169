"""A session at the far end of a deploy: describe the node, receive an order, then install or rehearse it."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, Optional

from ..commands import forbid_core_dumps
from ..disk import Disk, find_foreign_file, remove_tree
from ..installation import Installation, run_locked
from ..outcome import (
    OK,
    REFUSED,
    REVERTED,
    UNCHANGED,
    Busy,
    Damaged,
    InstallError,
    NoRoom,
    Outcome,
    outcome_to_json,
    with_earlier,
)
from ..policy import Policy
from ..record import set_damaged_aside
from ..store import FRESH, Limits, Place, Store, open_store
from .bootstrap import FOLDER, seal
from .inspection import make_hello, rehearse, user_name
from .order import Order, receive_order
from .protocol import DONE, HAVE, HELLO, MARK, PROBLEM, TOLD, FarLine, LineEnded, WireError


class StepReporter:
    """A listener that sends each step to the near end."""

    def __init__(self, line: FarLine) -> None:
        self._line = line

    def notify(self, step: str, state: str) -> None:
        """Send that a step has begun, is done or failed; that it is done goes with the next message."""
        send_step = self._line.hold if state == "done" else self._line.send_news
        send_step(TOLD, [json.dumps([step, state]).encode()])


def send_done(line: FarLine, outcome: Outcome, differences: dict[str, str], began: float) -> None:
    """Send the outcome; `began` is a time of the monotonic clock."""
    seconds = round(time.monotonic() - began, 3)
    send(line, DONE, {"outcome": outcome_to_json(outcome), "differences": differences, "seconds": seconds})


def decline(line: FarLine, kind: str, message: str, *hints: str) -> None:
    """Send why nothing was touched."""
    send(line, PROBLEM, {"kind": kind, "message": message, "hints": hints})


def send(line: FarLine, kind: int, data: dict[str, Any]) -> None:
    """Send a message of JSON."""
    line.say(kind, [json.dumps(data, separators=(",", ":")).encode()])


WHO = "gitcfg deploy"
WELL, ENDED, NOT_DONE = 0, 1, 3
_LEAST_WAIT = 1.0
_AS_ROOT = "Log in as root or omit `--no-sudo`."
_OWNERS = "Files belong to root unless you set `owner` and `group`."


class Carried(NamedTuple):
    """The running program and its SHA-256; `compiled` returns its compiled form, to be saved."""

    program: bytes
    key: str
    compiled: Optional[Callable[[], bytes]] = None  # noqa: UP045 (Python 3.9 evaluates it)


def main(
    root: str, state: str, program: bytes, key: str, compiled: Callable[[], bytes] | None, carried: bool
) -> int:
    """Hold one conversation on standard input and output, and return its exit code."""
    line = FarLine(first=b"" if carried else f"{MARK} {HAVE}\n".encode())
    try:
        return converse(line, Place(root or "/", state, WHO), Carried(program, key, compiled))
    finally:
        line.flush()  # also without a message, the near end must learn that the program was here


def converse(line: FarLine, place: Place, carried: Carried) -> int:
    """Hold one conversation on a line about the node at a place, and return its exit code."""
    try:
        return _conversation(line, place, carried)
    except LineEnded:
        return ENDED
    except WireError as error:
        decline(line, "refused", str(error))
    except (InstallError, OSError) as error:
        send(line, PROBLEM, make_problem(error)._asdict())
    return NOT_DONE


def _conversation(line: FarLine, place: Place, carried: Carried) -> int:
    not_root = f"The user {user_name()} is not root on this node" if os.geteuid() else ""
    if not_root and place.root == "/":
        decline(line, "sudo", f"{not_root}.", _AS_ROOT)
        return NOT_DONE
    found = make_hello(place)
    send(line, HELLO, found)
    forbid_core_dumps()  # what follows may be secret
    order = receive_order(line, place)
    if not_root and (path := find_foreign_file(order.package)):
        decline(line, "sudo", f"{not_root}, and {path} must belong to another user.", _OWNERS, _AS_ROOT)
        return NOT_DONE
    if order.dry:
        return _rehearse(line, place, order)
    if found["agent"] and not order.force_agent:
        decline(line, "refused", "An agent manages this node and would undo the deploy.")
        return NOT_DONE
    return run_apart(lambda: _install(line, place, order, carried))


def _rehearse(line: FarLine, place: Place, order: Order) -> int:
    began = time.monotonic()
    outcome, differences = rehearse(place, order.package, order.actions, Policy.everything())
    send_done(line, outcome, differences, began)
    return WELL


def _install(line: FarLine, place: Place, order: Order, carried: Carried) -> int:
    began = time.monotonic()
    here = place._replace(
        who=f"{WHO} of {order.who}" if order.who else WHO,
        listener=StepReporter(line),
        limits=Limits(lock_wait=max(_LEAST_WAIT, order.wait)),
    )
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    result = put_in_force(here, order, stamp)
    if carried.compiled is not None:
        with suppress(InstallError, OSError), open_store(place) as store:
            keep_program(store, carried.program, carried.key, carried.compiled)
    if isinstance(result, Problem):
        send(line, PROBLEM, result._asdict())
        return NOT_DONE
    send_done(line, result, {}, began)
    return WELL


# An installation runs in a session of its own, so that it outlives its connection.

_SHORT = 10
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Problem(NamedTuple):
    """Why nothing was touched: `kind` is full, busy, sudo or refused."""

    kind: str
    message: str
    hints: tuple[str, ...] = ()


def make_problem(error: InstallError | OSError) -> Problem:
    """Return an error as a problem."""
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
    """Return `sudo` for what is refused to a user that is not root."""
    return "sudo" if kind == "refused" and os.geteuid() else kind


def put_in_force(place: Place, order: Order, stamp: str) -> Outcome | Problem:
    """Install. Like an agent, rename a damaged record or journal, install everything again, and report that.

    The outcome also describes the end of an earlier, interrupted installation: no one else has received it.
    """
    installing = Installation(place, order.package, order.actions, Policy.everything(), base=order.base)
    lines: list[str] = []
    undone: list[Outcome] = []

    def note_earlier(before: Outcome) -> None:
        lines.append(_describe_earlier(before))
        if before.result == REVERTED:
            undone.append(before)

    try:
        try:
            outcome = run_locked(place, installing, note_earlier)
        except Damaged:
            lines.append(set_damaged_aside(place, stamp))
            installing.base = ""
            outcome = run_locked(place, installing, note_earlier)
    except (InstallError, OSError) as error:
        problem = make_problem(error)
        return problem._replace(message=_join(*lines, problem.message))
    if outcome.result == REFUSED and outcome.output.startswith(NoRoom.BEGINNING):
        return Problem("full", _join(*lines, outcome.output))
    new = order.package
    if (outcome.commit, outcome.digest) != (new.commit, new.digest):
        # An earlier installation that cannot be rolled back prevents this one; nothing else was done.
        outcome = outcome._replace(output=_describe_earlier(outcome), commit=new.commit, digest=new.digest)
    for before in undone if outcome.result in (OK, UNCHANGED) else ():
        outcome = with_earlier(outcome, before)._replace(result=OK)  # at least the rollback was done
    return outcome._replace(output=_join(*lines, outcome.output))


def _join(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def _describe_earlier(outcome: Outcome) -> str:
    """Describe an interrupted installation that was finished or rolled back only now."""
    what = f"An installation of {outcome.commit[:_SHORT]} was interrupted here"
    if outcome.result == OK:
        return f"{what} after its last step."
    return f"{what}{' and rolled back' if outcome.result == REVERTED else ''}: {outcome.output}"


def run_apart(work: Callable[[], int]) -> int:
    """Run something in a process with a session of its own, which no hangup of the line reaches.

    The signals are caught and not ignored, because daemons that commands start inherit ignored signals. They
    are caught before the fork, because one may arrive right after it, in either process.
    """
    for number in _SIGNALS:
        signal.signal(number, _stay)
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setsid()
            code = work()
        except BaseException:  # any error: the process ends here, and nothing above could report it
            sys.excepthook(*sys.exc_info())  # the near end gets the last lines of it
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1


def _stay(number: int, frame: object) -> None:
    """Ignore a signal: an installation finishes, at the latest after its commands' time limits."""


# The carried program is saved on the node for the next deploy: root's alone, and checked before each use.


def keep_program(store: Store, program: bytes, key: str, compiled: Callable[[], bytes]) -> None:
    """Save the program under its SHA-256, with its compiled form, and remove all others.

    A program that cannot be saved (the disk is full) is carried again next time. Nothing is synced: a file
    that is damaged by a loss of power does not match its checksum.
    """
    with suppress(OSError, InstallError):
        _make_own_folder(store)
        with store.folder(FOLDER) as at:
            for name in store.disk.names(at):
                if name not in (key, f"{key}.code"):
                    remove_tree(store.disk, at, name)
            _write_kept(store.disk, at, key, program)
            _write_kept(store.disk, at, f"{key}.code", seal(compiled()))


def _make_own_folder(store: Store) -> None:
    """Make the folder of the program, and replace a foreign one."""
    found = store.disk.stat(store.at, FOLDER)
    if found is not None:
        own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if own and stat.S_IMODE(found.st_mode) == 0o700:
            return
        store.remove(FOLDER)
    store.disk.make_folder(store.at, FOLDER, 0o700)


def _write_kept(disk: Disk, at: int, name: str, content: bytes) -> None:
    fresh = f"{name}.{os.getpid()}{FRESH}"
    file = disk.create(at, fresh)
    try:
        disk.write(file, content)
    except OSError:
        disk.unlink(at, fresh)
        raise
    finally:
        os.close(file)
    disk.rename(at, fresh, at, name)
