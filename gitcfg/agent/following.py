"""From what the server names to what is in force, with the result kept until it is reported."""

from __future__ import annotations

import time
from dataclasses import replace

from ..install import (
    FAILED,
    REFUSED,
    Actions,
    InstallError,
    Outcome,
    Package,
    PackageError,
    install,
    installed,
    last_report,
    recover,
)
from .advertise import advertise, mark_of
from .agent import Agent
from .problems import AgentError
from .questions import ask_actions, ask_package
from .reach import reaching
from .results import is_last, note
from .target import Target

MOST_WAIT = 3600.0


def settle(agent: Agent) -> None:
    """Finish or take back what died in the middle; its result is reported like any other."""
    outcome = recover(agent.place)
    if outcome is None and agent.memory.begun:
        found = last_report(agent.place)
        outcome = found if found and found.commit == agent.memory.begun else None
    if outcome is not None and not (outcome.result == FAILED and is_last(agent, outcome)):
        note(agent, outcome, 0.0)
    elif agent.memory.begun:
        agent.remember(begun="")


def follow(agent: Agent, target: Target) -> Outcome | None:
    """Put in force what the server names; None if there is nothing to do, or not yet."""
    before = installed(agent.place)
    moved = before is None or before.commit != target.commit
    if before is not None and before.digest == target.digest and not (moved and agent.settings.advertise):
        _adopt(agent, before, target)
        return None
    if _too_early(agent, target):
        return None
    started = time.monotonic()
    outcome = _put_in_force(agent, before, target)
    note(agent, outcome, time.monotonic() - started)
    tell_application(agent)
    return outcome


def _put_in_force(agent: Agent, before: Package | None, target: Target) -> Outcome:
    try:
        package = ask_package(agent.client, target)
        same = before is not None and before.digest == package.digest
        actions = Actions() if same else ask_actions(agent.client, before, target)
    except PackageError as error:
        return Outcome(REFUSED, target.commit, target.digest, step="read", output=str(error))
    agent.remember(begun=target.commit)
    return install(agent.place, package, actions, agent.settings.policy, reaching(agent, target))


def _adopt(agent: Agent, before: Package, target: Target) -> None:
    """Another commit with the same result: nothing is fetched, and this is what runs."""
    known = agent.running(before)
    if known is not None and known.commit != target.commit:
        agent.remember(running=replace(known, commit=target.commit), failure=None)


def _too_early(agent: Agent, target: Target) -> bool:
    """What failed is tried again after a while, longer each time: a daemon may only have been slow."""
    failure = agent.memory.failure
    if failure is None or (failure.commit, failure.digest) != (target.commit, target.digest):
        return False
    pause = min(agent.settings.interval * 2.0 ** min(failure.tries, 20), MOST_WAIT)
    return 0 <= agent.wall() - failure.at < pause


def tell_application(agent: Agent) -> None:
    """Tell the application what the node is, where that changed; what did not work is tried again."""
    package = installed(agent.place)
    if package is None or not agent.settings.advertise:
        return
    mark = mark_of(package, agent.settings.advertise)
    if mark == agent.memory.advertised:
        return
    try:
        advertise(agent.place, package, agent.settings.advertise)
    except (AgentError, InstallError, OSError) as error:
        agent.explain(error)
    else:
        agent.remember(advertised=mark)
