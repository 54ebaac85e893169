"""Before a round: what died in the middle, or cannot be read, is mended, and the server is told of it."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from ..install import (
    FAILED,
    Busy,
    Damaged,
    InstallError,
    Limits,
    Place,
    debts,
    installed,
    last_report,
    recover,
)
from .agent import Agent
from .memory import NAME, recall
from .results import forgotten, is_last, lost, note

_FORGOTTEN = (
    "What this agent remembered is lost: results that no server had heard, what had failed, and which answer"
    " was the newest."
)


def settle_memory(agent: Agent) -> None:
    """At the start, before anything is written over them: damaged files that all goes on without."""
    from ..install.damaged import file_aside, report_aside

    try:
        said = file_aside(agent.place, NAME, _stamp(agent), lambda: recall(agent.place))
        if said:
            forgotten(agent, f"{said} {_FORGOTTEN}")
        said = report_aside(agent.place, _stamp(agent))
        if said:
            forgotten(agent, said)
    except (InstallError, OSError) as error:
        agent.explain(error)


def settle(agent: Agent) -> None:
    """Finish or take back what died in the middle; its result is reported like any other.

    A disk that has become read-only keeps no agent from checking in: what is to be installed is refused for
    the same reason, and that is reported. Of a damaged record or journal the server hears at once.
    """
    try:
        _recovered(agent)
        installed(agent.place)
        debts(agent.place)
    except Busy:
        raise
    except Damaged as error:
        lost(agent, _mended(agent, error))
    except InstallError as error:
        lost(agent, str(error))
    except OSError as error:
        agent.explain(error)


def settle_without_settings(place: Place) -> None:
    """Finish or take back what died in the middle where no agent can start: its settings are wrong.

    The next one that can start reports it.
    """
    if os.path.isdir(os.path.join(place.root, place.folder[1:])):
        with suppress(InstallError, OSError):
            recover(place._replace(limits=Limits()))


def _recovered(agent: Agent) -> None:
    outcome = recover(agent.place)
    if outcome is None and agent.memory.begun:
        found = last_report(agent.place)
        outcome = found if found and found.commit == agent.memory.begun else None
    if outcome is not None and not (outcome.result == FAILED and is_last(agent, outcome)):
        note(agent, outcome, 0.0)
    elif agent.memory.begun:
        agent.remember(begun="")


def _mended(agent: Agent, error: Damaged) -> str:
    from ..install import set_aside

    try:
        return set_aside(agent.place, _stamp(agent)) or error.message
    except Busy:
        raise
    except (InstallError, OSError) as refused:
        return f"{error.message} It cannot be kept aside: {refused}"


def _stamp(agent: Agent) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(agent.wall()))
