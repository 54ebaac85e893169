"""Gives slots values: as many as can keep what they had, each of the others in turn gets the first."""

from collections.abc import Callable, Collection

from gitcfg.solve.answer import WORK, Budget, Unsolvable
from gitcfg.solve.giving import Giving, Value
from gitcfg.solve.handing import Handing
from gitcfg.solve.kin import Kin, Kinship
from gitcfg.solve.matching import Matching
from gitcfg.solve.minimal import Conflict, Conflicts, unsolvable
from gitcfg.solve.wanting import Clash, Wanting

_Search = Callable[[Kin, Budget], dict[int, Value] | None]


def give(problem: Giving, work: float = WORK) -> dict[str, Value] | Unsolvable:
    """A value for each slot that has none by hand, in order of slots.

    The one answer in which, first, the most slots keep the value that stood; second, the first slot of
    which it differs who does keeps its own; third, the first slot where two answers differ has the value
    that comes first in its domains.

    Raises:
        Exhausted: It takes more work than this to find it, or to say why there is none.
    """
    try:
        values = _given(problem, _best, Budget(work))
    except Clash as found:
        part = problem.some({problem.wants[number].slot for number in found.slots})
        return _told(problem, part, Budget(work))
    return {problem.wants[number].slot: values[number] for number in sorted(values)}


def _given(problem: Giving, search: _Search, budget: Budget) -> dict[int, Value]:
    """The values by number.

    Raises:
        Clash: There is no answer.
    """
    wanting = Wanting(problem)
    handing = Handing(wanting)
    values = handing.values
    for kin in Kinship(wanting).of(handing.hard) if handing.hard else ():
        short = _short(kin)
        found = None if short is not None else search(kin, budget)
        if found is None:
            slots = [kin.slots[place] for place in short or range(len(kin.slots))]
            raise Clash(wanting.holders(slots).union(slots))
        values.update((kin.slots[place], value) for place, value in found.items())
    return values


def _short(kin: Kin) -> Collection[int] | None:
    """Slots for which there are too few values, as far as counting tells."""
    empty = next((place for place in range(len(kin.slots)) if not kin.open[place]), None)
    if empty is not None:
        return (empty,)
    return Matching(kin, {}).short if kin.together else None


def _best(kin: Kin, budget: Budget) -> dict[int, Value] | None:
    if not kin.together:
        from gitcfg.solve.assign import Assigning

        made = Assigning(kin, budget)
        return None if made.some() is None else made.best()
    found = Matching(kin, _keeping(kin))
    if found.short is not None:
        from gitcfg.solve.assign import Assigning

        found = Matching(kin, Assigning(kin, budget).kept())
    found.settle()
    return found.values


def _keeping(kin: Kin) -> dict[int, Value]:
    """All that can be kept if the others find something: of several that had the same value, the first."""
    first: dict[Value, int] = {}
    for place, value in enumerate(kin.keeps):
        if value is not None:
            first.setdefault(value, place)
    return {place: value for value, place in first.items()}


def _some(kin: Kin, budget: Budget) -> dict[int, Value] | None:
    if kin.together:
        return Matching(kin, {}).values
    from gitcfg.solve.assign import Assigning

    return Assigning(kin, budget).some()


def _told(problem: Giving, part: Giving, budget: Budget) -> Unsolvable:
    def among(some: Giving) -> Conflict:
        return lambda causes: _conflict(some.only(causes), budget)

    return unsolvable(Conflicts(problem.causes(), among(problem), among(part)))


def _conflict(problem: Giving, budget: Budget) -> Collection[str] | None:
    try:
        _given(problem, _some, budget)
    except Clash as found:
        return problem.some({problem.wants[number].slot for number in found.slots}).causes()
    return None
