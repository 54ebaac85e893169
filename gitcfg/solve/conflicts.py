"""Problems without a solution: a smallest set of demands that contradict each other."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, Self, TypeVar

from msgspec import Struct

WORK = 60.0
"""The work that CP-SAT may do for one problem, in its own units: counted, not timed, so the same everywhere.
"""


class Unsolvable(Struct, frozen=True):
    """There is no solution: `causes` contradict each other, and would not if any one of them were left out.

    Leaving out `suggestion` alone would make the whole problem solvable; None: no single cause would.
    """

    causes: tuple[str, ...]
    suggestion: str | None = None


class Exhausted(Exception):
    """There may be a solution, but finding the best one takes more work than is allowed."""

    def __init__(self, work: float) -> None:
        super().__init__(f"The best answer was not found within {work:g} units of work.")
        self.work = work


class Budget:
    """The work that all searches for one solution may do together."""

    def __init__(self, work: float = WORK) -> None:
        self._work = self._left = work

    def left(self) -> float:
        """Return the remaining work.

        Raises:
            Exhausted: Nothing is left.
        """
        if self._left <= 0:
            raise self.exhausted()
        return self._left

    def spend(self, work: float) -> None:
        """Subtract work that was done."""
        self._left -= work

    def exhausted(self) -> Exhausted:
        """Return the error for too much work."""
        return Exhausted(self._work)


# Which causes contradict each other, as few as possible, and which one to leave out.


class _Problem(Protocol):
    def causes(self) -> Sequence[str]: ...
    def only(self, causes: Collection[str]) -> Self: ...


P = TypeVar("P", bound=_Problem)


def unsolvable(whole: P, part: P, conflict: Callable[[P], Collection[str] | None]) -> Unsolvable:
    """Return a smallest set of causes for which a problem has no solution, nor a small part of it.

    `conflict` returns causes that suffice for a contradiction, None if there is a solution. Causes that the
    part does not need are removed before the whole problem is examined.
    """

    everything = whole.causes()
    least = _least_causes(whole, _least_causes(part, everything, conflict), conflict)
    # Only a cause of the contradiction can be the suggestion: without any other one it would remain.
    for lifted in least:
        rest = [cause for cause in everything if cause != lifted]
        if conflict(part.only(rest)) is None and conflict(whole.only(rest)) is None:
            return Unsolvable(least, lifted)
    return Unsolvable(least)


def _least_causes(
    problem: P, causes: Sequence[str], conflict: Callable[[P], Collection[str] | None]
) -> tuple[str, ...]:
    """Remove the causes that are not needed for the contradiction, the last first."""
    start = conflict(problem.only(causes)) or ()
    waiting = [cause for cause in causes if cause in start]
    needed: list[str] = []
    while waiting:
        last = waiting.pop()
        found = conflict(problem.only([*waiting, *needed]))
        if found is None:
            needed.append(last)
        else:
            waiting = [cause for cause in waiting if cause in found]
    return tuple(reversed(needed))
