"""For ever: report, follow, wait; whatever fails is tried again, later each time."""

from __future__ import annotations

import random
import signal
import time
from contextlib import suppress

from ..install import Busy, InstallError, damaged, entry, recovery
from . import advertise, sealed
from .agent import Agent
from .following import follow, tell_application
from .problems import AgentError, Declined, Untrusted
from .questions import ask_target
from .report import report
from .settling import settle
from .target import Target
from .wakes import Woken

WHOLE = (advertise, damaged, entry, recovery, sealed)
"""Imported by others where they are used first. A daemon has them from its start on: should its package be
upgraded meanwhile, it must not run with halves of two versions."""
LONGEST_WAIT = 60.0
"""Seconds that a server lets a question wait."""
FIRST_PAUSE, MOST_PAUSE = 2.0, 300.0
_IDLE = 1.0


def forever(agent: Agent) -> None:
    """Until SIGTERM. Nothing that a server, a network or a configuration does ends it."""
    due, misses = 0.0, 0
    agent.tell(f"Follows {', '.join(map(str, agent.settings.servers))} as {agent.settings.node}.")
    with suppress(Busy):  # the first round tells it
        settle(agent)  # before the pause: what died in the middle may have left secrets
    _pause(agent, random.uniform(0, agent.settings.delay))
    while not agent.wakes.ending:
        if agent.wakes.hurried:
            agent.wakes.hurried, due, misses = False, 0.0, 0
            agent.client.close()
            agent.remember(failure=None)
        try:
            due = _round(agent, due)
            misses = 0
        except Woken:
            continue
        except (AgentError, InstallError, OSError) as error:
            misses += 1
            due = 0.0
            _missed(agent, error, misses)
    agent.tell(f"Ended by {signal.Signals(agent.wakes.ending).name}.")


def _missed(agent: Agent, error: AgentError | InstallError | OSError, misses: int) -> None:
    """Tell what went wrong, and wait."""
    if isinstance(error, Untrusted) or (isinstance(error, Declined) and error.status >= 500):
        agent.client.turn()
    chance = random.random()
    longest = agent.settings.interval if isinstance(error, Declined) else MOST_PAUSE
    again = min(longest, pause(misses, agent.settings.interval, chance))
    again = max(again, agent.client.rest * (1 + chance / 2))
    agent.explain(error)
    agent.troubled(error, agent.wall() + again)
    _pause(agent, again)


def _round(agent: Agent, due: float) -> float:
    """A check-in where one is due, else a long-poll; when the next check-in is due."""
    settle(agent)
    if time.monotonic() >= due:
        interval = agent.settings.interval * random.uniform(0.9, 1.1)
        due = time.monotonic() + interval
        target: Target | None = report(agent, agent.wall() + interval)
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
