"""From what the server names to what is in force, with the result kept until it is reported."""

from __future__ import annotations

import time

from ..install import FAILED, REFUSED, UNCHANGED, Actions, InstallError, Outcome, Package, PackageError
from ..install.order import STOP
from ..install.owed import in_words
from .agent import Agent
from .problems import AgentError
from .questions import ask_actions, ask_package
from .reach import reaching
from .results import note
from .settling import settle
from .target import Target

MOST_WAIT = 3600.0


def follow(agent: Agent, target: Target) -> Outcome | None:
    """Put in force what the server names; None if there is nothing to do, or not yet."""
    before = agent.in_force()
    moved = before is None or before.commit != target.commit
    same = before is not None and before.digest == target.digest and not _is_owed(agent)
    if before is not None and same and not (moved and agent.settings.advertise):
        agent.supplied()
        return _adopt(agent, before, target)
    if _too_early(agent, target):
        return None
    started = time.monotonic()
    if target.again:
        # Once an interval at most: a server that says it for ever must not have this node work all the time.
        agent.patient_until = started + agent.settings.interval
    outcome = _put_in_force(agent, before, target)
    note(agent, outcome, time.monotonic() - started)
    tell_application(agent)
    return outcome


def _instead(before: Package | None) -> str:
    return f" instead of {before.commit[:10]}" if before else ""


def _put_in_force(agent: Agent, before: Package | None, target: Target) -> Outcome:
    try:
        with agent.wakes.waiting():
            package = ask_package(agent.client, target)
            same = before is not None and before.digest == package.digest
            actions = Actions() if same else ask_actions(agent.client, before, target)
    except PackageError as error:
        agent.supplied()
        return Outcome(REFUSED, target.commit, target.digest, step="read", output=str(error))
    from ..install import install

    agent.supplied()
    settle(agent)  # Busy where somebody else installs: that says nothing against this commit
    agent.wakes.may_begin()
    owed = "".join(f", {one} is owed" for one in in_words(agent.owed()))
    agent.say(f"{target.commit[:10]}: to be installed{_instead(before)}{owed}")
    agent.remember(begun=target.commit)
    return install(agent.place, package, actions, agent.settings.policy, reaching(agent, target))


def _adopt(agent: Agent, before: Package, target: Target) -> Outcome | None:
    """Another commit with the same result: nothing is fetched, and this is what runs.

    Where the last that was heard is that even the way back failed, that is over, by whatever: the server
    hears of it, or it would wait for that for ever.
    """
    if (agent.memory.last or {}).get("outcome") == FAILED:
        outcome = Outcome(UNCHANGED, target.commit, target.digest)
        note(agent, outcome, 0.0)
        return outcome
    known = agent.running(before)
    if known is not None and known.commit != target.commit:
        agent.remember(running=known._replace(commit=target.commit), failure=None)
    return None


def _is_owed(agent: Agent) -> bool:
    """Whether what is in force must be installed once more. A stop goes along with the next change."""
    return any(one.kind != STOP for one in agent.owed())


def _too_early(agent: Agent, target: Target) -> bool:
    """What failed is tried again after a while, longer each time: a daemon may only have been slow."""
    failure = agent.memory.failure
    if failure is None or (failure.commit, failure.digest) != (target.commit, target.digest):
        return False
    if target.again and time.monotonic() >= agent.patient_until:
        return False
    pause = min(agent.settings.interval * 2.0 ** min(failure.tries, 20), MOST_WAIT)
    return 0 <= agent.wall() - failure.at < pause


def tell_application(agent: Agent) -> None:
    """Tell the application what the node is, where that changed; what did not work is tried again."""
    package = agent.in_force() if agent.settings.advertise else None
    if package is None:
        return
    from .advertise import advertise, mark_of

    mark = mark_of(package, agent.settings.advertise)
    if mark == agent.memory.advertised:
        return
    try:
        advertise(agent.place, package, agent.settings.advertise)
    except (AgentError, InstallError, OSError) as error:
        agent.explain(error)
    else:
        agent.remember(advertised=mark)
