"""What comes of a problem that has no answer, or none that is known to be best within its budget."""

from msgspec import Struct

WORK = 60.0
"""How much CP-SAT may do for one problem, in its own units: counted, not timed, so the same everywhere."""


class Unsolvable(Struct, frozen=True):
    """No answer: `causes` cannot hold together, and could if any single one of them were left out.

    Leaving out `suggestion` alone would let the whole problem be solved; None: no single one would.
    """

    causes: tuple[str, ...]
    suggestion: str | None = None


class Exhausted(Exception):
    """There may be an answer, but finding the best one takes more work than is allowed."""

    def __init__(self, work: float) -> None:
        super().__init__(f"The best answer was not found within {work:g} units of work.")
        self.work = work


class Budget:
    """The work that all searches for one answer may do together."""

    def __init__(self, work: float = WORK) -> None:
        self._work = self._left = work

    def left(self) -> float:
        """What may still be done.

        Raises:
            Exhausted: Nothing.
        """
        if self._left <= 0:
            raise self.exhausted()
        return self._left

    def spend(self, work: float) -> None:
        """Work was done."""
        self._left -= work

    def exhausted(self) -> Exhausted:
        """That it was not enough."""
        return Exhausted(self._work)
