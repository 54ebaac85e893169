"""What listens to a deploy: several listeners as one, notes on its end, the record, lines of JSON."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from gitcfg.cli.deploy.output import DeployHead, node_to_json
from gitcfg.deploy.batches import INTERRUPTED
from gitcfg.deploy.outcomes import Result
from gitcfg.deploy.records import NodeDone, Recorder
from gitcfg.deploy.run import Listener


class SilentListener:
    """Ignores all events."""

    def began(self, node: str, batch: int) -> None:
        """A node has its turn."""

    def step(self, node: str, step: str, detail: str) -> None:
        """What happens on a node."""

    def ended(self, result: Result) -> None:
        """A node is done with."""

    def stopping(self, because: str) -> None:
        """No other node is begun."""

    def tick(self) -> None:
        """Some time has passed."""


class StopNotes(SilentListener):
    """Prints that no other node is begun, where a program reads what becomes of nodes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def stopping(self, because: str) -> None:
        """No other node is begun."""
        with suppress(OSError):  # nobody reads it any more, which ends no deploy
            self._say(format_stop(because))


def format_stop(because: str) -> str:
    """Say why no other node is begun, and what becomes of those at work."""
    hint = " Ctrl-C again leaves them." if because == INTERRUPTED else ""
    return f"{because} No other node is begun; those at work finish.{hint}"


class Listeners(SilentListener):
    """Passes events to several listeners, in their order."""

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
        """No other node is begun."""
        for one in self._listeners:
            one.stopping(because)

    def tick(self) -> None:
        """Some time has passed."""
        for one in self._listeners:
            one.tick()


class RunRecorder(SilentListener):
    """Records what becomes of each node, at once."""

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


_GONE = "Whoever read the lines of JSON has left."
_WRITTEN = "The lines of JSON cannot be written: {}."


class JsonLines(SilentListener):
    """Writes a line of JSON for each node as it ends, unless `about` is None.

    The reader may leave, and a disk may be full: then `fault` is set and `left` called once, so that no other
    node is begun and those at work finish.
    """

    def __init__(self, about: DeployHead | None) -> None:
        self._about = about
        self.fault: OSError | None = None
        self.left: Callable[[str], None] = lambda because: None

    def ended(self, result: Result) -> None:
        """A node is done with."""
        if self._about is None or self.fault is not None:
            return
        try:
            sys.stdout.buffer.write(msgspec.json.encode(node_to_json(self._about, result)) + b"\n")
            sys.stdout.flush()
        except OSError as error:
            self.fault = error
            self.left(_GONE if isinstance(error, BrokenPipeError) else _WRITTEN.format(error.strerror))
