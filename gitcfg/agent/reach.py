"""An installation that cuts the node off from its server is taken back while it still can be."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..install import StepFailed
from .agent import Agent
from .problems import AgentError, Declined
from .questions import ask_target
from .target import Target

STEP = "reach"
_PAUSE = 1.0


def reaching(agent: Agent, target: Target) -> Callable[[], None] | None:
    """What is asked when everything is active; None where agent.toml switches it off."""
    if not agent.settings.reach:
        return None
    return lambda: _reach(agent, target)


def _reach(agent: Agent, target: Target) -> None:
    """Over a new connection: an old one may outlive a name server or a route that is gone."""
    until = time.monotonic() + agent.settings.reach
    agent.client.close()
    while True:
        left = max(0.1, min(agent.settings.timeout, until - time.monotonic()))
        try:
            ask_target(agent.client, 0, target.digest, timeout=left)
        except Declined:
            return  # an answer, and from the server that is pinned
        except AgentError as error:
            if time.monotonic() + _PAUSE > until:
                raise StepFailed(
                    STEP, f"With this configuration the server is out of reach: {error}"
                ) from None
            time.sleep(_PAUSE)
        else:
            return
