"""One round: report, follow, report; and the exit code that tells how it went."""

from __future__ import annotations

from ..install import FAILED, REFUSED, REVERTED, InstallError, Outcome
from . import problems
from .agent import Agent
from .following import follow, tell_application
from .problems import AgentError
from .report import report
from .settling import settle
from .shown import times
from .wakes import Woken

STOPPED = 128
"""Added to the number of the signal that ended a round: what a shell has for that."""
_CODES = {REVERTED: problems.REVERTED, FAILED: problems.REVERTED, REFUSED: problems.REFUSED}


def once(agent: Agent) -> int:
    """One round; the exit code. A problem that keeps it from being a round is kept, and raised."""
    code = None
    while code is None:
        code = _tried(agent)
    return code


def _tried(agent: Agent) -> int | None:
    """None where a signal wants the round begun anew."""
    try:
        return _round(agent)
    except Woken:
        if not agent.wakes.ending:
            agent.wakes.hurried = False
            return None
        agent.tell("Ended by a signal before the round was over.")
        return STOPPED + agent.wakes.ending
    except (AgentError, InstallError, OSError) as error:
        agent.troubled(error)
        raise


def _round(agent: Agent) -> int:
    settle(agent)
    target = report(agent)
    outcome = follow(agent, target)
    tell_application(agent)
    if outcome is not None:
        try:
            report(agent)
        except Woken:
            agent.tell("Ended by a signal; the next run tells the server what came of it.")
        except AgentError as error:
            agent.explain(error)
            agent.troubled(error)
            return _code(agent, outcome) or error.code
    return _code(agent, outcome)


def _code(agent: Agent, outcome: Outcome | None) -> int:
    if outcome is not None:
        return _CODES.get(outcome.result, 0)
    failure, last = agent.memory.failure, agent.memory.last or {}
    if failure is not None and last.get("commit") == failure.commit:
        agent.tell(f"{failure.commit[:10]} failed {times(failure.tries)}; it is tried again later.")
        return _CODES.get(str(last.get("outcome")), 0)
    return 0
