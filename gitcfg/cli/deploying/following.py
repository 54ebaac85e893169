"""Who follows a deploy: several as one, who says nothing or only why nobody else is begun, who records."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from gitcfg.deploy.listening import Listener
from gitcfg.deploy.outcomes import Result
from gitcfg.deploy.record import NodeDone, Recorder
from gitcfg.deploy.turns import INTERRUPTED


class Quiet:
    """Hears all, and does nothing about it."""

    def began(self, node: str, batch: int) -> None:
        """A node has its turn."""

    def step(self, node: str, step: str, detail: str) -> None:
        """What happens on a node."""

    def ended(self, result: Result) -> None:
        """A node is done with."""

    def stopping(self, because: str) -> None:
        """Nobody else has a turn."""

    def tick(self) -> None:
        """Some time has passed."""


class Stops(Quiet):
    """Says that nobody else has a turn, where something else than eyes reads what becomes of nodes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def stopping(self, because: str) -> None:
        """Nobody else has a turn."""
        with suppress(OSError):  # nobody reads it any more, which ends no deploy
            self._say(stopping(because))


def stopping(because: str) -> str:
    """Why nobody else has a turn, and what becomes of those that have theirs."""
    again = " Ctrl-C again leaves them." if because == INTERRUPTED else ""
    return f"{because} No other node is begun; those at work finish.{again}"


class All(Quiet):
    """Tells several, in their order."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners

    def began(self, node: str, batch: int) -> None:
        """A node has its turn."""
        for one in self._listeners:
            one.began(node, batch)

    def step(self, node: str, step: str, detail: str) -> None:
        """What happens on a node."""
        for one in self._listeners:
            one.step(node, step, detail)

    def ended(self, result: Result) -> None:
        """A node is done with."""
        for one in self._listeners:
            one.ended(result)

    def stopping(self, because: str) -> None:
        """Nobody else has a turn."""
        for one in self._listeners:
            one.stopping(because)

    def tick(self) -> None:
        """Some time has passed."""
        for one in self._listeners:
            one.tick()


class Recording(Quiet):
    """Writes down what becomes of each node, at once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def ended(self, result: Result) -> None:
        """A node is done with."""
        self._recorder.node(
            NodeDone(
                result.node,
                result.outcome.value,
                result.step,
                "\n".join(filter(None, (result.message, result.output))),
                result.seconds,
                len(result.changed) + len(result.removed),
                result.commit,
                result.digest,
                result.agent,
            )
        )
