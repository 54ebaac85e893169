"""What came of installations: kept until the server has heard it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..install import FAILED, OK, UNCHANGED, Drift, Outcome
from ..install.inforce import UNKNOWN
from .agent import Agent
from .memory import MOST_RESULTS, Failure, Running

_OUTPUT = 16_384
_PATHS = 20
REPAIR = "repair"
"""The step of a result that tells of files that were mended."""
RECOVER = "recover"
"""The step of one that tells of gitcfg's own files, damaged."""


def note(agent: Agent, outcome: Outcome, seconds: float) -> None:
    """Keep a result until the server has heard it; in one writing with what it means for what is in force."""
    result = {**_told(outcome), "seconds": round(seconds, 3)}
    changes: dict[str, Any] = {"begun": "", "last": {**result, "at": agent.wall()}}
    changes["results"] = _with(agent, result)
    if outcome.result in (OK, UNCHANGED):
        changes["running"] = Running(outcome.commit, outcome.digest, agent.client.clock.now())
        changes["failure"] = None
    else:
        changes["failure"] = _failure(agent, outcome)
    agent.remember(**changes)
    agent.say(f"{outcome.commit[:10]}: {outcome.result} {_in_words(outcome, seconds)}".rstrip())


def mended(agent: Agent, outcome: Outcome, found: tuple[Drift, ...], seconds: float) -> None:
    """Keep that files were changed by hand and mended, for the server. No commit came or failed by that."""
    paths = [one.path for one in found]
    more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
    said = f"Changed by hand, and mended: {', '.join(paths[:_PATHS])}{more}."
    output = "\n".join((said, *(one.diff for one in found)))[:_OUTPUT]
    told = _told(outcome._replace(step=REPAIR, output=output))
    if agent.memory.failure is None:
        agent.remember(results=_with(agent, {**told, "seconds": round(seconds, 3)}))
    agent.say(said)


def forgotten(agent: Agent, message: str) -> None:
    """Keep for the server that what this agent remembered is lost. No commit came or failed by that."""
    agent.say(message)
    package = agent.in_force()
    if package is not None and agent.memory.failure is None:  # else the failure must stay the last result
        outcome = Outcome(OK, package.commit, package.digest, step=RECOVER, output=message)
        agent.remember(results=_with(agent, {**_told(outcome), "seconds": 0.0}))


def lost(agent: Agent, message: str) -> None:
    """Keep for the server that nobody knows what is in force, once. It is no commit's fault."""
    outcome = Outcome(FAILED, UNKNOWN, "", step=RECOVER, output=message)
    agent.tell(message)
    if message not in str((agent.memory.last or {}).get("output")):
        result = {**_told(outcome), "seconds": 0.0}
        agent.remember(begun="", last={**result, "at": agent.wall()}, results=_with(agent, result))


def _with(agent: Agent, result: dict[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return (*agent.memory.results, result)[-MOST_RESULTS:]


def _failure(agent: Agent, outcome: Outcome) -> Failure:
    known = agent.memory.failure
    again = known is not None and (known.commit, known.digest) == (outcome.commit, outcome.digest)
    return Failure(outcome.commit, outcome.digest, agent.wall(), known.tries + 1 if known and again else 1)


def _told(outcome: Outcome) -> dict[str, Any]:
    output = outcome.output if len(outcome.output) <= _OUTPUT else f"...{outcome.output[-_OUTPUT:]}"
    return {"commit": outcome.commit, "outcome": outcome.result, "step": outcome.step[:200], "output": output}


def _in_words(outcome: Outcome, seconds: float) -> str:
    if outcome.step:
        return f"at `{outcome.step}`: {outcome.output.removeprefix(f'{outcome.step}: ')}"
    files = len(outcome.changed) + len(outcome.removed)
    done = [f"{files} file{'s' if files > 1 else ''}"] if files else []
    for word in ("restarted", "reloaded", "stopped"):
        names = getattr(outcome, word)
        done += [f"{word} {', '.join(names)}"] if names else []
    return f"in {seconds:.1f} s{': ' if done else ''}{'; '.join(done)}"


def is_last(agent: Agent, outcome: Outcome) -> bool:
    """Whether this is what was noted last."""
    last = agent.memory.last or {}
    return {**last, **_told(outcome)} == last
