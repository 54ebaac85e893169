"""From the files of a node to its agent."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..install import Damaged, Place
from .agent import Agent
from .client import Client
from .clock import ServerClock
from .configured import configured
from .facts import facts
from .identity import identity
from .memory import Memory, recall


def started(root: str, config: str, place: Place, say: Callable[[str], None], version: str) -> Agent:
    """The agent of a node, with a key of its own from the first start on; nothing is asked yet."""
    settings = configured(root, config)
    who, memory = identity(place, settings.node), _remembered(place)
    return Agent(
        settings=settings,
        place=place,
        client=Client(settings, who, ServerClock(memory.offset)),
        memory=memory,
        say=say,
        wall=time.time,
        version=version,
        facts=facts(root),
    )


def _remembered(place: Place) -> Memory:
    """Nothing where it is damaged: `settle_memory` tells that, once no other agent can be at work here."""
    try:
        return recall(place)
    except Damaged:
        return Memory()
