"""The agent of a node: its settings, client and memory, and the results that the server does not have yet."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ..install.drift import Drift
from ..install.outcome import FAILED, OK, UNCHANGED, InstallError, Outcome
from ..install.package import Package
from ..install.plan import Debt
from ..install.record import UNKNOWN, read_debts, read_installed
from ..install.store import Place
from .client import Client, Target
from .config import Settings
from .errors import PENDING, SECRETS, AgentError, Declined
from .memory import MOST_DRIFT, MOST_RESULTS, Failure, Memory, Running, save_memory
from .process import Signals

_REMEMBERED = 8
"""The number of problems that are remembered so that none is logged twice."""


class Agent:
    """The state of a running agent.

    `say` writes a line to the log; messages that may repeat in each round are filtered first. `wall` returns
    the time of this node's clock, in seconds since the epoch.
    """

    def __init__(
        self,
        settings: Settings,
        place: Place,
        client: Client,
        memory: Memory,
        say: Callable[[str], None],
        wall: Callable[[], float],
        version: str,
        facts: Mapping[str, str | int],
    ) -> None:
        self.settings = settings
        self.place = place
        self.client = client
        self.memory = memory
        self.say = say
        self.wall = wall
        self.version = version
        self.facts = facts
        self.signals = Signals()
        self.drifted: tuple[Drift, ...] = ()
        self.patient_until = -math.inf
        """When a server may next ask the agent to retry what failed (`time.monotonic`)."""
        self._told: deque[str] = deque(maxlen=_REMEMBERED)

    def remember(self, **changes: Any) -> None:
        """Change and save the memory. On a full disk, log that; the change is lost when the process ends."""
        self.memory = self.memory._replace(**changes)
        try:
            save_memory(self.place, self.memory)
        except OSError as error:
            self.tell(f"Cannot save the agent's state on the disk: {error.strerror}.")

    def tell(self, message: str) -> None:
        """Log a problem, unless it was already logged since a server last answered."""
        if message not in self._told:
            self._told.append(message)
            self.say(message)

    def explain(self, error: AgentError | InstallError | OSError) -> None:
        """Log an error as one sentence."""
        self.tell(_sentence(error))

    def record_answer(self, target: Target, **changes: Any) -> None:
        """Save the server's answer. An answer alone does not prove that the server can provide secrets."""
        if not self._lacks_secrets():
            self._answered()
            while len(self._told) > 1:
                self._told.popleft()
        changed = {"sequence": target.sequence, "told": target.digest, "problem": self.memory.problem}
        self.remember(**changed, **self._contact(), **changes)

    def record_supply(self) -> None:
        """Note that the target is available: fetched, or already installed."""
        if self._lacks_secrets():
            self._answered()
            self.remember()

    def _lacks_secrets(self) -> bool:
        return (self.memory.problem or {}).get("kind") == SECRETS

    def _answered(self) -> None:
        """Log that the problem is over, and clear it; the caller saves that to disk."""
        problem = self.memory.problem
        if problem is not None:
            self._told.clear()  # otherwise a second outage with the same message would not be logged
            accepted = problem.get("kind") == PENDING
            ended = f"{self.client.server} answers correctly again."
            self.say("This node's key is accepted now." if accepted else ended)
            self.memory = self.memory._replace(problem=None)

    def record_trouble(self, error: AgentError | InstallError | OSError, next_round: float = 0.0) -> None:
        """Save the problem that prevents a round, and the time of the next round."""
        kind = error.kind if isinstance(error, AgentError) else AgentError.kind
        problem = {"kind": kind, "message": _sentence(error), "at": self.wall()}
        contact = self._contact() if isinstance(error, Declined) else {}
        self.remember(**{"problem": problem, "next": next_round, "drift": self._drift(), **contact})

    def _contact(self) -> dict[str, Any]:
        server, offset = str(self.client.server), self.client.clock.offset
        return {"contact": self.wall(), "server": server, "offset": offset, "drift": self._drift()}

    def _drift(self) -> tuple[dict[str, str], ...]:
        return tuple({"path": one.path, "kind": one.kind} for one in self.drifted[:MOST_DRIFT])

    def read_in_force(self) -> Package | None:
        """Return the installed package; None if there is none or its record cannot be read (see `settle`)."""
        try:
            return read_installed(self.place)
        except InstallError:
            return None

    def read_debts(self) -> tuple[Debt, ...]:
        """Return what subsystems still have to do for the package; empty if unreadable (see `settle`)."""
        try:
            return read_debts(self.place)
        except InstallError:
            return ()

    def running(self, package: Package | None) -> Running | None:
        """Return what is installed; if another program installed it, since this agent noticed it."""
        if package is None:
            return None
        known = self.memory.running
        if known is None or known.digest != package.digest:
            known = Running(package.commit, package.digest, self.client.clock.now())
            self.remember(running=known)
        return known


def _sentence(error: AgentError | InstallError | OSError) -> str:
    if not isinstance(error, OSError):
        return str(error)
    return f"{error.strerror}{f' {error.filename}' if error.filename else ''}."


# Results of installations: kept until the server has received them.

_OUTPUT = 16_384
_PATHS = 20
REPAIR = "repair"
"""The step of a result that reports repaired files."""
RECOVER = "recover"
"""The step of a result that reports damage to gitcfg's own files."""


def keep_result(agent: Agent, outcome: Outcome, seconds: float) -> None:
    """Save a result until the server has it, in the same write as its effect on what is installed."""
    result = {**_result_of(outcome), "seconds": round(seconds, 3)}
    changes: dict[str, Any] = {"begun": "", "last": {**result, "at": agent.wall()}}
    changes["results"] = _with_result(agent, result)
    if outcome.result in (OK, UNCHANGED):
        changes["running"] = Running(outcome.commit, outcome.digest, agent.client.clock.now())
        changes["failure"] = None
    else:
        changes["failure"] = _failure(agent, outcome)
    agent.remember(**changes)
    agent.say(f"{outcome.commit[:10]}: {outcome.result} {_summary(outcome, seconds)}".rstrip())


def keep_repair(agent: Agent, outcome: Outcome, found: tuple[Drift, ...], seconds: float) -> None:
    """Save, for the server, that files changed by hand were repaired. No commit was installed or failed."""
    paths = [one.path for one in found]
    more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
    message = f"Repaired files that were changed by hand: {', '.join(paths[:_PATHS])}{more}."
    output = "\n".join((message, *(one.diff for one in found)))[:_OUTPUT]
    result = _result_of(outcome._replace(step=REPAIR, output=output))
    if agent.memory.failure is None:
        agent.remember(results=_with_result(agent, {**result, "seconds": round(seconds, 3)}))
    agent.say(message)


def keep_lost_memory(agent: Agent, message: str) -> None:
    """Save, for the server, that this agent's memory was lost. No commit was installed or failed."""
    agent.say(message)
    package = agent.read_in_force()
    if package is not None and agent.memory.failure is None:  # otherwise the failure stays the last result
        outcome = Outcome(OK, package.commit, package.digest, step=RECOVER, output=message)
        agent.remember(results=_with_result(agent, {**_result_of(outcome), "seconds": 0.0}))


def keep_damage(agent: Agent, message: str) -> None:
    """Save, for the server and only once, that what is installed is unknown. No commit failed."""
    outcome = Outcome(FAILED, UNKNOWN, "", step=RECOVER, output=message)
    agent.tell(message)
    if message not in str((agent.memory.last or {}).get("output")):
        result = {**_result_of(outcome), "seconds": 0.0}
        agent.remember(begun="", last={**result, "at": agent.wall()}, results=_with_result(agent, result))


def _with_result(agent: Agent, result: dict[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return (*agent.memory.results, result)[-MOST_RESULTS:]


def _failure(agent: Agent, outcome: Outcome) -> Failure:
    known = agent.memory.failure
    repeated = known is not None and (known.commit, known.digest) == (outcome.commit, outcome.digest)
    return Failure(outcome.commit, outcome.digest, agent.wall(), known.tries + 1 if known and repeated else 1)


def _result_of(outcome: Outcome) -> dict[str, Any]:
    output = outcome.output if len(outcome.output) <= _OUTPUT else f"...{outcome.output[-_OUTPUT:]}"
    return {"commit": outcome.commit, "outcome": outcome.result, "step": outcome.step[:200], "output": output}


def _summary(outcome: Outcome, seconds: float) -> str:
    if outcome.step:
        return f"at `{outcome.step}`: {outcome.output.removeprefix(f'{outcome.step}: ')}"
    files = len(outcome.changed) + len(outcome.removed)
    done = [f"{files} file{'s' if files > 1 else ''}"] if files else []
    for word in ("restarted", "reloaded", "stopped"):
        names = getattr(outcome, word)
        done += [f"{word} {', '.join(names)}"] if names else []
    return f"in {seconds:.1f} s{': ' if done else ''}{'; '.join(done)}"


def is_last(agent: Agent, outcome: Outcome) -> bool:
    """Return whether this is the last result."""
    last = agent.memory.last or {}
    return {**last, **_result_of(outcome)} == last
