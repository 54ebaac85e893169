"""Places things at slots: as what stands with the fewest changes, by the fewest spots, by the first ones."""

from collections.abc import Callable, Collection

from gitcfg.solve.answer import WORK, Budget, Unsolvable
from gitcfg.solve.filling import Filling
from gitcfg.solve.minimal import Conflict, Conflicts, unsolvable
from gitcfg.solve.part import Part, Parts
from gitcfg.solve.placing import Placing, Spot
from gitcfg.solve.rows import Numbers, Rows, numbered
from gitcfg.solve.settled import Contradiction, Settled

_Search = Callable[[Part, Budget], frozenset[int] | None]


def place(problem: Placing, work: float = WORK) -> tuple[Spot, ...] | Unsolvable:
    """What is to be placed beside what is fixed, in canonical order.

    The one answer that, first, changes the fewest spots of what stood; second, places the fewest; third,
    has the first spot where two answers differ: what stood before all others, things then slots in order.

    Raises:
        Exhausted: It takes more work than this to find it, or to say why there is none.
    """
    numbers = Numbers(problem)
    rows = numbered(problem, numbers)
    try:
        true = _placed(rows, _best, Budget(work))
    except Contradiction as found:
        return _told(rows, rows.some(found.rows), Budget(work))
    fixed = set(numbers.many([found.spot for found in problem.fixed]))
    return tuple(numbers.spot(number) for number in sorted(true - fixed))


def _placed(rows: Rows, search: _Search, budget: Budget) -> set[int]:
    """All spots that are true.

    Raises:
        Contradiction: There is no answer.
    """
    settled = Settled(rows)
    filling = Filling(rows, settled)
    true = filling.true
    for part in Parts(rows, settled).of(filling.hard):
        found = search(part, budget)
        if found is None:
            raise Contradiction(_core(rows, settled.reasons(part.origins)))
        true.difference_update(*(settled.undecided(rows.rows[index]) for index in part.origins))
        true |= found
    return true | {number for number, value in settled.value.items() if value}


def _told(rows: Rows, part: Rows, budget: Budget) -> Unsolvable:
    def among(some: Rows) -> Conflict:
        return lambda causes: _conflict(some.only(causes), budget)

    return unsolvable(Conflicts(rows.causes(), among(rows), among(part)))


def _conflict(rows: Rows, budget: Budget) -> Collection[str] | None:
    try:
        _placed(rows, _some, budget)
    except Contradiction as found:
        return {rows.rows[index].cause for index in found.rows}
    return None


def _best(part: Part, budget: Budget) -> frozenset[int] | None:
    from gitcfg.solve.search import best

    return best(part, budget)


def _some(part: Part, budget: Budget) -> frozenset[int] | None:
    from gitcfg.solve.search import some

    return some(part, budget)


def _core(rows: Rows, indices: Collection[int]) -> frozenset[int]:
    from gitcfg.solve.search import core

    return core(rows, indices)
