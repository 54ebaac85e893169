"""The rounds of an agent: a single one with an exit code, or one after another until SIGTERM."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress

from ..install.outcome import FAILED, REFUSED, REVERTED, Busy, Damaged, InstallError, Outcome
from ..install.store import Place
from . import errors
from .agent import Agent
from .client import Client, ServerClock, Target, ask_target
from .config import load_settings
from .errors import AgentError, Declined, Untrusted
from .keys import load_identity
from .memory import Memory, load_memory, times
from .process import WaitInterrupted
from .report import find_facts, report
from .update import follow, settle, tell_application


def start_agent(root: str, config: str, place: Place, say: Callable[[str], None], version: str) -> Agent:
    """Return the agent of a node, with a new key if it has none; nothing is requested yet."""
    settings = load_settings(root, config)
    who = load_identity(place, settings.node)
    try:
        memory = load_memory(place)
    except Damaged:  # `settle_memory` reports that, once no other agent can be running here
        memory = Memory()
    return Agent(
        settings=settings,
        place=place,
        client=Client(settings, who, ServerClock(memory.offset)),
        memory=memory,
        say=say,
        wall=time.time,
        version=version,
        facts=find_facts(root),
    )


# A single round: report, follow, report.

STOPPED = 128
"""Added to the number of the signal that ended a round, as a shell does."""
_CODES = {REVERTED: errors.REVERTED, FAILED: errors.REVERTED, REFUSED: errors.REFUSED}


def run_once(agent: Agent) -> int:
    """Run one round and return the exit code. Record a problem that prevents it, and raise it."""
    code = None
    while code is None:
        code = _try_round(agent)
    return code


def _try_round(agent: Agent) -> int | None:
    """Return the exit code; None if a signal asks for a new round."""
    try:
        return _run_single_round(agent)
    except WaitInterrupted:
        if not agent.signals.ending:
            agent.signals.hurried = False
            return None
        agent.tell("Ended by a signal during the round.")
        return STOPPED + agent.signals.ending
    except (AgentError, InstallError, OSError) as error:
        agent.record_trouble(error)
        raise


def _run_single_round(agent: Agent) -> int:
    settle(agent)
    target = report(agent)
    outcome = follow(agent, target)
    tell_application(agent)
    if outcome is not None:
        try:
            report(agent)
        except WaitInterrupted:
            agent.tell("Ended by a signal; the next run reports the result to the server.")
        except AgentError as error:
            agent.explain(error)
            agent.record_trouble(error)
            return _exit_code(agent, outcome) or error.code
    return _exit_code(agent, outcome)


def _exit_code(agent: Agent, outcome: Outcome | None) -> int:
    if outcome is not None:
        return _CODES.get(outcome.result, 0)
    failure, last = agent.memory.failure, agent.memory.last or {}
    if failure is not None and last.get("commit") == failure.commit:
        agent.tell(f"{failure.commit[:10]} failed {times(failure.tries)}; the agent tries it again later.")
        return _CODES.get(str(last.get("outcome")), 0)
    return 0


# Rounds until SIGTERM: report, follow, wait. Every failure is retried, after a longer pause each time.

LONGEST_WAIT = 60.0
"""Seconds that a server may hold back an answer."""
FIRST_PAUSE, MOST_PAUSE = 2.0, 300.0
_IDLE = 1.0


def load_whole_program() -> None:
    """Import all modules that are otherwise imported on first use.

    A daemon loads all of its own code at its start: if its package is upgraded meanwhile, it must not run
    with parts of two versions.
    """
    from ..install import installation, recovery  # noqa: F401
    from . import secrets  # noqa: F401


def run_forever(agent: Agent) -> None:
    """Follow the server until SIGTERM. No error of a server, a network or a configuration ends the loop."""
    load_whole_program()
    due, misses = 0.0, 0
    agent.tell(f"Follows {', '.join(map(str, agent.settings.servers))} as {agent.settings.node}.")
    with suppress(Busy):  # the first round reports it
        settle(agent)  # before the pause: an interrupted installation may have left secrets
    _pause(agent, _chance() * agent.settings.delay)
    while not agent.signals.ending:
        if agent.signals.hurried:
            agent.signals.hurried, due, misses = False, 0.0, 0
            agent.client.close()
            agent.remember(failure=None)
        try:
            due = _run_round(agent, due)
            misses = 0
        except WaitInterrupted:
            continue
        except (AgentError, InstallError, OSError) as error:
            misses += 1
            due = 0.0
            _wait_after_failure(agent, error, misses)
    agent.tell(f"Ended by {signal.Signals(agent.signals.ending).name}.")


def _wait_after_failure(agent: Agent, error: AgentError | InstallError | OSError, misses: int) -> None:
    if isinstance(error, Untrusted) or (isinstance(error, Declined) and error.status >= 500):
        agent.client.turn()
    chance = _chance()
    longest = agent.settings.interval if isinstance(error, Declined) else MOST_PAUSE
    seconds = min(longest, retry_pause(misses, agent.settings.interval, chance))
    seconds = max(seconds, agent.client.rest * (1 + chance / 2))
    agent.explain(error)
    agent.record_trouble(error, agent.wall() + seconds)
    _pause(agent, seconds)


def _run_round(agent: Agent, due: float) -> float:
    """Run a check-in if one is due, else a long poll; return when the next check-in is due."""
    settle(agent)
    if time.monotonic() >= due:
        interval = agent.settings.interval * (0.9 + 0.2 * _chance())
        due = time.monotonic() + interval
        target: Target | None = report(agent, agent.wall() + interval)
        tell_application(agent)
    else:
        target = _poll(agent, due - time.monotonic())
    if target is not None and follow(agent, target) is not None:
        return 0.0
    return due


def _poll(agent: Agent, left: float) -> Target | None:
    """Return what the server names, or None; the next check-in is not due yet."""
    wait = min(agent.settings.wait, left, LONGEST_WAIT)
    if wait < _IDLE:
        agent.signals.sleep(left if not agent.settings.wait else min(left, _IDLE))
        return None
    started, before = time.monotonic(), agent.memory.told
    with agent.signals.waiting():
        target = ask_target(agent.client, agent.memory.sequence, before, wait)
    agent.record_answer(target)
    if target.digest == before and time.monotonic() - started < wait / 2:
        # A server or proxy that does not wait must not be asked all the time.
        agent.signals.sleep(min(left, 5 * _IDLE))
    return target


def _chance() -> float:
    """Return a random number from 0 to 1. Importing `random` takes 3 ms, which a single round avoids."""
    import random

    return random.random()


def retry_pause(misses: int, interval: float, chance: float) -> float:
    """Return the seconds until the next try: twice as long each time, never in step with other nodes."""
    most = max(MOST_PAUSE, interval)
    return float(min(most, min(FIRST_PAUSE, interval) * 2 ** min(misses - 1, 30))) * (0.5 + chance / 2)


def _pause(agent: Agent, seconds: float) -> None:
    with suppress(WaitInterrupted):
        agent.signals.sleep(seconds)
