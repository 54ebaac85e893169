"""How much of the processor's time the expressions of one rule may take."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import thread_time

from gitcfg.cel.problem import CelStopped

SECONDS = 2.0
"""To begin with: what a rule may take that is asked of hardly anything."""
EACH = 0.0002
"""More for each node or instance that is asked about: a plain condition takes 6 us, one in the child 10."""
ITEM = 0.000005
"""More for each item of what is known of it, which takes 0.2 to 0.7 us to hand over and look at."""


class Budget:
    """Seconds of the processor's time, never of the clock: whether a rule may stand does not depend on how
    busy a machine is. They grow with what is asked, so that no fleet is too large for an honest expression.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = self.left = seconds
        self._said: str | None = None

    def grant(self, nodes: int, items: int = 0) -> float:
        """More, for so much that is asked about. CelStopped: it is used up already."""
        if self.left <= 0:
            raise self.over()
        more = nodes * EACH + items * ITEM
        self.left += more
        return more

    def spend(self, seconds: float) -> None:
        """Less. CelStopped: it is used up."""
        self.left -= seconds
        if self.left <= 0:
            raise self.over()

    @contextmanager
    def spending(self) -> Iterator[float]:
        """Less by what this thread takes meanwhile: gives when that is too much, by `thread_time`."""
        begun = thread_time()
        yield begun + self.left
        self.spend(thread_time() - begun)

    def over(self) -> CelStopped:
        """What is said of an expression that has no time left."""
        most = f"{self.seconds:g} s of the processor's time, and {EACH * 1000:g} ms more for each node"
        return self.end(f"the expression takes more than {most}")

    def end(self, message: str) -> CelStopped:
        """Nothing is left of it, and whatever else is asked, the same is said."""
        self.left = 0.0
        self._said = self._said or message
        return CelStopped(self._said, hint="loops in loops and long texts cost most")
