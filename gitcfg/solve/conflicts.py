"""Problems without an answer: the smallest set of demands that cannot hold together."""

from collections.abc import Callable, Collection, Sequence

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


# Which causes cannot hold together, as few as may be named, and which one would have to give way.

Conflict = Callable[[Collection[str]], Collection[str] | None]
"""Of causes those that suffice for there being no answer; None: what they demand has one."""


class Conflicts(Struct, frozen=True):
    """A problem without an answer, all its causes in order, and a small part of it that has none itself."""

    causes: Sequence[str]
    whole: Conflict
    part: Conflict


def unsolvable(found: Conflicts) -> Unsolvable:
    """As few causes as can be. What the part does not need is out before the whole is asked."""
    least = _least(_least(found.causes, found.part), found.whole)
    return Unsolvable(least, _suggested(found, least))


def _least(causes: Sequence[str], conflict: Conflict) -> tuple[str, ...]:
    """By deletion: what is not needed for there being no answer is left out, the last first."""
    start = conflict(causes) or ()
    waiting = [cause for cause in causes if cause in start]
    needed: list[str] = []
    while waiting:
        last = waiting.pop()
        found = conflict([*waiting, *needed])
        if found is None:
            needed.append(last)
        else:
            waiting = [cause for cause in waiting if cause in found]
    return tuple(reversed(needed))


def _suggested(found: Conflicts, least: Sequence[str]) -> str | None:
    """It is one of those that cannot hold together: they would go on not to, were it any other."""
    for lifted in least:
        rest = [cause for cause in found.causes if cause != lifted]
        if found.part(rest) is None and found.whole(rest) is None:
            return lifted
    return None
