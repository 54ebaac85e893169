"""What each command of gitcfg-agent does; an exit code is what comes of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from .. import __version__
from ..install import Limits, Place
from .shown import shown

if TYPE_CHECKING:
    from argparse import Namespace

PROGRAM = "gitcfg-agent"
_DIFF, _LOCK_WAIT = 4096, 10.0


def _run(asked: Namespace) -> int:
    from ..install import InstallError
    from ..install.cores import forbid
    from .wakes import Wakes

    forbid()
    wakes = Wakes()
    wakes.listen()  # before anything that takes time: a hangup that nobody listens for ends a process
    from .notify import notifier
    from .problems import AgentError
    from .settling import settle_memory, settle_without_settings
    from .sole import alone
    from .started import started

    notify = notifier(os.environ.get("NOTIFY_SOCKET", ""))

    def say(line: str) -> None:
        told = shown(line, sys.stderr.encoding)
        sys.stderr.write(f"{told}\n")
        sys.stderr.flush()
        notify(f"STATUS={told.partition(os.linesep)[0]}")

    try:
        agent = started(asked.root, asked.config, _place(asked), say, __version__)
    except (AgentError, InstallError, OSError):
        settle_without_settings(_place(asked))
        raise
    agent.wakes = wakes
    with alone(agent.place):
        settle_memory(agent)
        notify("READY=1")
        if asked.once:
            from .once import once

            return once(agent)
        from .loop import forever

        forever(agent)
        return 0


def _key(asked: Namespace) -> int:
    from .configured import configured
    from .identity import identity

    who = identity(_place(asked), configured(asked.root, asked.config).node)
    write([who.line])
    sys.stderr.write(f"{who.fingerprint}\n")
    return 0


def _status(asked: Namespace) -> int:
    from ..install import Debt, InstallError, debts, installed
    from .configured import configured
    from .identity import identity
    from .memory import Memory, recall
    from .status import status, status_lines

    place, settings = _place(asked), configured(asked.root, asked.config)
    who, memory = identity(place, settings.node), Memory()
    package, unreadable = None, []
    owed: tuple[Debt, ...] = ()
    try:
        memory = recall(place)
    except InstallError as error:
        unreadable.append(str(error))
    try:
        package = installed(place)
    except InstallError as error:
        unreadable.append(str(error))
    try:
        owed = debts(place)
    except InstallError as error:
        unreadable.append(str(error))
    said = status(settings, who, memory, package, unreadable, owed)
    if asked.output == "json":
        import json

        write([json.dumps(said, indent=2)])
    else:
        write(status_lines(said))
    return 0


def _drift(asked: Namespace) -> int:
    from ..install import drift
    from .status import drift_lines

    found = drift(_place(asked))
    write(drift_lines(found))
    return 1 if found else 0


COMMANDS: Mapping[str, Callable[[Namespace], int]] = {
    "run": _run,
    "key": _key,
    "status": _status,
    "drift": _drift,
}


def _place(asked: Namespace) -> Place:
    return Place(asked.root, who=PROGRAM, limits=Limits(lock_wait=_LOCK_WAIT, diff=_DIFF))


def write(lines: Iterable[str]) -> None:
    """To stdout."""
    sys.stdout.writelines(f"{shown(line, sys.stdout.encoding)}\n" for line in lines)
    sys.stdout.flush()
