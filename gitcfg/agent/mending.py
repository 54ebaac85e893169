"""Files that were changed by hand, mended: from the record, or anew from the server where it is secret."""

from __future__ import annotations

from ..install import OK, UNCHANGED, Drift, Package, PackageError, drift
from .agent import Agent
from .problems import AgentError
from .questions import ask_package
from .results import mended, note
from .target import Target

_CONTENT = ("changed", "missing", "link")
"""Kinds of drift that are mended with a file's content."""


def mend(agent: Agent, found: tuple[Drift, ...]) -> tuple[Drift, ...]:
    """Mend what was found. What the server is to hear as drift: nothing where all is, which a result tells.

    While a commit is in the way, its own result must stay the last one, and drift tells it once.
    """
    from ..install import repair

    started, package = agent.place.clock.now(), agent.in_force()
    secret = package is not None and any(_is_secret(package, one) for one in found)
    fresh = _fresh(agent, package) if package is not None and secret else None
    outcome = repair(agent.place, agent.settings.policy, fresh)
    if outcome.result not in (OK, UNCHANGED):
        if outcome.output not in str(agent.memory.last or ""):
            note(agent, outcome, 0.0)
        return found
    agent.drifted = drift(agent.place) if secret else ()
    paths = {one.path for one in agent.drifted}
    gone = tuple(one for one in found if one.path not in paths)
    if gone:
        mended(agent, outcome, gone, agent.place.clock.now() - started)
    if agent.drifted:
        agent.tell(
            f"Changed by hand, and left so until a server sends the secrets: {', '.join(sorted(paths))}."
        )
    return agent.drifted if agent.memory.failure is None else found


def _is_secret(package: Package, one: Drift) -> bool:
    """Whether what is meant is not recorded here."""
    file = package.files.get(one.path)
    return one.kind in _CONTENT and file is not None and file.true is None


def _fresh(agent: Agent, package: Package) -> Package | None:
    """The package in force once more, with its secrets; None where no server sends it."""
    running = agent.running(package)
    if running is None:
        return None
    try:
        with agent.wakes.waiting():
            return ask_package(agent.client, Target(package.node, running.commit, running.digest, 0))
    except (AgentError, PackageError) as error:
        agent.explain(error)
        return None
