"""Which causes cannot hold together, as few as may be named, and which one would have to give way."""

from collections.abc import Callable, Collection, Sequence

from msgspec import Struct

from gitcfg.solve.answer import Unsolvable

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
