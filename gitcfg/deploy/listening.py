"""Who follows a deploy, and how it ended."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from gitcfg.deploy.outcomes import Result
from gitcfg.deploy.turns import Why


class Listener(Protocol):
    """Who follows a deploy; all is told by the thread that runs it, and nothing else is told meanwhile."""

    def began(self, node: str, batch: int) -> None:
        """A node has its turn."""

    def step(self, node: str, step: str, detail: str) -> None:
        """What happens on a node."""

    def ended(self, result: Result) -> None:
        """A node is done with; said once of each."""

    def stopping(self, because: str) -> None:
        """Nobody else has a turn."""

    def tick(self) -> None:
        """Some time has passed, and perhaps nothing else has happened."""


class Finished(msgspec.Struct, frozen=True):
    """How a deploy ended; `results` have each of its nodes once."""

    results: Mapping[str, Result]
    why: Why
    because: str
