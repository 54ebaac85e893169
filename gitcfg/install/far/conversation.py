"""The far end of a deploy: says what stands, takes an order, and installs it or tells what that would do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Optional

from ..accounts import not_ours
from ..cores import forbid
from ..place import Limits, Place
from ..policy import Policy
from ..problems import InstallError
from .greeting import hello, user
from .line import FarLine, LineEnded
from .order import Asked, take_order
from .saying import Telling, decline, say, say_done
from .wire import HAVE, HELLO, MARK, PROBLEM, WireError

WHO = "gitcfg deploy"
WELL, ENDED, NOT_DONE = 0, 1, 3
_LEAST_WAIT = 1.0
_AS_ROOT = "Log in as root, or leave out --no-sudo."
_OWNERS = "Files are root's unless `owner` and `group` say whose."


class Carried(NamedTuple):
    """The program that runs, and its SHA-256; `compiled` makes its compiled form where it is to be kept."""

    program: bytes
    key: str
    compiled: Optional[Callable[[], bytes]] = None  # noqa: UP045 (Python 3.9 evaluates it)


def main(
    root: str, state: str, program: bytes, key: str, compiled: Callable[[], bytes] | None, carried: bool
) -> int:
    """One conversation on standard input and output; its exit code."""
    line = FarLine(first=b"" if carried else f"{MARK} {HAVE}\n".encode())
    try:
        return converse(line, Place(root or "/", state, WHO), Carried(program, key, compiled))
    except BaseException:
        line.flush()  # that the program was here is said in any case
        raise


def converse(line: FarLine, place: Place, carried: Carried) -> int:
    """One conversation on a line, about the node at a place; the exit code that says how it went."""
    try:
        return _conversation(line, place, carried)
    except LineEnded:
        return ENDED
    except WireError as error:
        decline(line, "refused", str(error))
    except (InstallError, OSError) as error:
        from .doing import problem_of

        say(line, PROBLEM, problem_of(error)._asdict())
    return NOT_DONE


def _conversation(line: FarLine, place: Place, carried: Carried) -> int:
    if os.geteuid() and place.root == "/":
        decline(line, "sudo", f"{_not_root()}.", _AS_ROOT)
        return NOT_DONE
    found = hello(place)
    say(line, HELLO, found)
    forbid()  # what comes may be secret
    asked = take_order(line, place)
    if os.geteuid() and (path := not_ours(asked.package)):
        decline(line, "sudo", f"{_not_root()}, and {path} is to be somebody else's.", _OWNERS, _AS_ROOT)
        return NOT_DONE
    if asked.dry:
        return _rehearse(line, place, asked)
    if found["agent"] and not asked.force_agent:
        decline(line, "refused", "An agent keeps this node, and would undo what is deployed.")
        return NOT_DONE
    from .doing import apart

    return apart(lambda: _install(line, place, asked, carried))


def _not_root() -> str:
    """What is said to who is not root."""
    return f"The user {user()} is not root on this node"


def _rehearse(line: FarLine, place: Place, asked: Asked) -> int:
    from .rehearsal import rehearsed

    began = time.monotonic()
    outcome, differences = rehearsed(place, asked.package, asked.actions, Policy.everything())
    say_done(line, outcome, differences, began)
    return WELL


def _install(line: FarLine, place: Place, asked: Asked, carried: Carried) -> int:
    from .doing import Problem, put_in_force, stamp_of

    began = time.monotonic()
    here = place._replace(
        who=f"{WHO} of {asked.who}" if asked.who else WHO,
        listener=Telling(line),
        limits=Limits(lock_wait=max(_LEAST_WAIT, asked.wait)),
    )
    found = put_in_force(here, asked, stamp_of(time.time()))
    _keep(place, carried)
    if isinstance(found, Problem):
        say(line, PROBLEM, found._asdict())
        return NOT_DONE
    say_done(line, found, {}, began)
    return WELL


def _keep(place: Place, carried: Carried) -> None:
    if carried.compiled is not None:
        from ..store import opened
        from .keeping import keep

        with suppress(InstallError, OSError), opened(place) as store:
            keep(store, carried.program, carried.key, carried.compiled)
