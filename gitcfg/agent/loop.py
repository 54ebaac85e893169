"""Once or for ever: report, follow, wait; whatever fails is tried again, later each time."""

from __future__ import annotations

import random
import time

from ..install import FAILED, REFUSED, REVERTED, InstallError, Outcome
from . import problems
from .agent import Agent
from .following import follow, settle, tell_application
from .problems import AgentError, Declined, Untrusted
from .questions import ask_target
from .report import report
from .target import Target
from .wakes import Woken

LONGEST_WAIT = 60.0
"""Seconds that a server lets a question wait."""
FIRST_PAUSE, MOST_PAUSE = 2.0, 300.0
_CODES = {REVERTED: problems.REVERTED, FAILED: problems.REVERTED, REFUSED: problems.REFUSED}
_IDLE = 1.0


def once(agent: Agent) -> int:
    """One round; the exit code. A problem that keeps it from being a round is raised."""
    settle(agent)
    target = report(agent)
    outcome = follow(agent, target)
    tell_application(agent)
    if outcome is not None:
        try:
            report(agent)
        except AgentError as error:
            agent.explain(error)
            return _code(agent, outcome) or error.code
    return _code(agent, outcome)


def _code(agent: Agent, outcome: Outcome | None) -> int:
    if outcome is not None:
        return _CODES.get(outcome.result, 0)
    failure, last = agent.memory.failure, agent.memory.last or {}
    if failure is not None and last.get("commit") == failure.commit:
        agent.tell(f"{failure.commit[:10]} failed {failure.tries} times; it is tried again later.")
        return _CODES.get(str(last.get("outcome")), 0)
    return 0


def forever(agent: Agent) -> None:
    """Until SIGTERM. Nothing that a server, a network or a configuration does ends it."""
    due, misses = 0.0, 0
    _pause(agent, random.uniform(0, agent.settings.delay))
    while not agent.wakes.ending:
        if agent.wakes.hurried:
            agent.wakes.hurried, due, misses = False, 0.0, 0
            agent.remember(failure=None)
        try:
            due = _round(agent, due)
            misses = 0
        except Woken:
            continue
        except (AgentError, InstallError, OSError) as error:
            agent.explain(error)
            misses += 1
            due = 0.0
            if isinstance(error, Untrusted) or (isinstance(error, Declined) and error.status >= 500):
                agent.client.turn()
            longest = agent.settings.interval if isinstance(error, Declined) else MOST_PAUSE
            _pause(agent, min(longest, pause(misses, agent.settings.interval, random.random())))


def _round(agent: Agent, due: float) -> float:
    """A check-in where one is due, else a long-poll; when the next check-in is due."""
    settle(agent)
    if time.monotonic() >= due:
        target: Target | None = report(agent)
        due = time.monotonic() + agent.settings.interval * random.uniform(0.9, 1.1)
        tell_application(agent)
    else:
        target = _awaited(agent, due - time.monotonic())
    if target is not None and follow(agent, target) is not None:
        return 0.0
    return due


def _awaited(agent: Agent, left: float) -> Target | None:
    """What the server names while the next check-in is not yet due."""
    wait = min(agent.settings.wait, left, LONGEST_WAIT)
    if wait < _IDLE:
        agent.wakes.sleep(left if not agent.settings.wait else min(left, _IDLE))
        return None
    started, before = time.monotonic(), agent.memory.told
    with agent.wakes.waiting():
        target = ask_target(agent.client, agent.memory.sequence, before, wait)
    agent.heard(target)
    if target.digest == before and time.monotonic() - started < wait / 2:
        # A server, or somebody between, that does not wait must not be asked all the time.
        agent.wakes.sleep(min(left, 5 * _IDLE))
    return target


def pause(misses: int, interval: float, chance: float) -> float:
    """Seconds until the next try: twice as long each time, never in step with other nodes."""
    most = max(MOST_PAUSE, interval)
    return float(min(most, min(FIRST_PAUSE, interval) * 2 ** min(misses - 1, 30))) * (0.5 + chance / 2)


def _pause(agent: Agent, seconds: float) -> None:
    try:
        agent.wakes.sleep(seconds)
    except Woken:
        return
