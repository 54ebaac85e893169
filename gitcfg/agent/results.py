"""What came of installations: kept until the server has heard it."""

from __future__ import annotations

from typing import Any

from ..install import OK, UNCHANGED, Outcome
from .agent import Agent
from .memory import MOST_RESULTS, Failure, Running

_OUTPUT = 16_384


def note(agent: Agent, outcome: Outcome, seconds: float) -> None:
    """Keep a result until the server has heard it; in one writing with what it means for what is in force."""
    result = {**_told(outcome), "seconds": round(seconds, 3)}
    changes: dict[str, Any] = {"begun": "", "last": result}
    changes["results"] = (*agent.memory.results, result)[-MOST_RESULTS:]
    if outcome.result in (OK, UNCHANGED):
        changes["running"] = Running(outcome.commit, outcome.digest, agent.client.clock.now())
        changes["failure"] = None
    else:
        changes["failure"] = _failure(agent, outcome)
    agent.remember(**changes)
    where = f" at `{outcome.step}`: {outcome.output}" if outcome.step else ""
    agent.tell(f"{outcome.commit[:10]}: {outcome.result}{where}")


def _failure(agent: Agent, outcome: Outcome) -> Failure:
    known = agent.memory.failure
    again = known is not None and (known.commit, known.digest) == (outcome.commit, outcome.digest)
    return Failure(outcome.commit, outcome.digest, agent.wall(), known.tries + 1 if known and again else 1)


def _told(outcome: Outcome) -> dict[str, Any]:
    output = outcome.output if len(outcome.output) <= _OUTPUT else f"...{outcome.output[-_OUTPUT:]}"
    return {"commit": outcome.commit, "outcome": outcome.result, "step": outcome.step[:200], "output": output}


def is_last(agent: Agent, outcome: Outcome) -> bool:
    """Whether this is what was noted last."""
    last = agent.memory.last or {}
    return {**_told(outcome), "seconds": last.get("seconds")} == last
