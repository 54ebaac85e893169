"""How long the expressions of one rule may take for all nodes together."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gitcfg.cel.problem import CelProblem

SECONDS = 5.0
"""For 10,000 nodes a plain condition takes 0.04 s, one in the child 0.2 s: only hostile ones get there."""


class Budget:
    """Wall seconds, used up while expressions are evaluated and not in between."""

    def __init__(self, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self.clock = seconds, clock
        self._left = seconds

    @contextmanager
    def spending(self) -> Iterator[float]:
        """Use some of it: gives when it ends, by its clock."""
        begun = self.clock()
        try:
            yield begun + self._left
        finally:
            self._left -= self.clock() - begun

    def over(self) -> CelProblem:
        """What is said of an expression that has no time left."""
        hint = "loops in loops and long texts cost most"
        return CelProblem(f"the expression takes longer than {self.seconds:g} s for all nodes", hint=hint)
