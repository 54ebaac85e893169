"""The entry point of gitcfg-agent, and the one place where what went wrong becomes an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .. import __version__
from ..install import InstallError, Limits, Place
from .arguments import arguments
from .problems import REFUSED, USAGE, AgentError

if TYPE_CHECKING:
    from argparse import Namespace
    from types import TracebackType

PROGRAM = "gitcfg-agent"
FAULT = 70
_DIFF, _LOCK_WAIT = 4096, 10.0


def program() -> None:
    """Run with the arguments of this process, and exit."""
    sys.excepthook = _fault
    if sys.argv[1:] == ["--version"]:
        _write([f"{PROGRAM} {__version__}"])
        return
    sys.exit(main(sys.argv[1:]))


def main(said: Sequence[str], name: str = PROGRAM) -> int:
    """Run a command line; its exit code."""
    asked = arguments(said, name, __version__)
    try:
        return int(_COMMANDS[asked.command](asked))
    except (AgentError, InstallError) as error:
        sys.stderr.write(f"error: {error.message}\n")
        sys.stderr.writelines(f"hint: {hint}\n" for hint in error.hints)
        return error.code if isinstance(error, AgentError) else REFUSED
    except OSError as error:
        sys.stderr.write(f"error: {error.filename or 'The system'}: {error.strerror or error}.\n")
        return USAGE


def _run(asked: Namespace) -> int:
    from .loop import forever, once
    from .sole import alone
    from .started import started

    agent = started(asked.root, asked.config, _place(asked), _say, __version__)
    with alone(agent.place):
        agent.wakes.listen()
        if not asked.once:
            forever(agent)
            return 0
        return once(agent)


def _key(asked: Namespace) -> int:
    from .configured import configured
    from .identity import identity

    who = identity(_place(asked), configured(asked.root, asked.config).node)
    _write([who.line])
    sys.stderr.write(f"{who.fingerprint}\n")
    return 0


def _status(asked: Namespace) -> int:
    from ..install import installed
    from .configured import configured
    from .identity import identity
    from .memory import recall
    from .status import status

    place, settings = _place(asked), configured(asked.root, asked.config)
    _write(status(settings, identity(place, settings.node), recall(place), installed(place)))
    return 0


def _drift(asked: Namespace) -> int:
    from ..install import drift
    from .status import drift_lines

    found = drift(_place(asked))
    _write(drift_lines(found))
    return 1 if found else 0


_COMMANDS = {"run": _run, "key": _key, "status": _status, "drift": _drift}


def _place(asked: Namespace) -> Place:
    return Place(asked.root, who=PROGRAM, limits=Limits(lock_wait=_LOCK_WAIT, diff=_DIFF))


def _write(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What nobody expected: told whole, with the exit code that says so."""
    sys.__excepthook__(kind, error, trace)
    sys.stderr.write(f"error: {PROGRAM} itself has failed; please send the lines above along.\n")
    sys.stderr.flush()
    os._exit(130 if issubclass(kind, KeyboardInterrupt) else FAULT)
