"""Problems without an answer: the smallest set of demands that cannot hold together."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, Self, TypeVar

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
        """Return what may still be done.

        Raises:
            Exhausted: Nothing.
        """
        if self._left <= 0:
            raise self.exhausted()
        return self._left

    def spend(self, work: float) -> None:
        """Count work that was done."""
        self._left -= work

    def exhausted(self) -> Exhausted:
        """Return the error that it was not enough."""
        return Exhausted(self._work)


# Which causes cannot hold together, as few as may be named, and which one would have to give way.


class _Problem(Protocol):
    def causes(self) -> Sequence[str]: ...
    def only(self, causes: Collection[str]) -> Self: ...


P = TypeVar("P", bound=_Problem)


def unsolvable(whole: P, part: P, conflict: Callable[[P], Collection[str] | None]) -> Unsolvable:
    """As few causes as can be why a problem has no answer, nor has a small part of it.

    `conflict` gives causes that suffice for there being none, None if there is one. What the part does not
    need is out before the whole is asked.
    """

    everything = whole.causes()
    least = _least_causes(whole, _least_causes(part, everything, conflict), conflict)
    # It is one of those that cannot hold together: they would go on not to, were it any other.
    for lifted in least:
        rest = [cause for cause in everything if cause != lifted]
        if conflict(part.only(rest)) is None and conflict(whole.only(rest)) is None:
            return Unsolvable(least, lifted)
    return Unsolvable(least)


def _least_causes(
    problem: P, causes: Sequence[str], conflict: Callable[[P], Collection[str] | None]
) -> tuple[str, ...]:
    """Delete what is not needed for there being no answer, the last first."""
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
