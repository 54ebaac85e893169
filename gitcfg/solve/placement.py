"""Placement: keep what was placed, drop the last ones over a maximum, fill up with the first possible ones.

Where this suffices it is best. A spot is dropped for one bound and leaves at most one other bound short;
bounds that may become short share no spot that could be added. So there is no solution with fewer changes,
and none with as few changes that comes first. The solver gets only what this cannot settle.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from gitcfg.solve.conflicts import WORK, Budget, Unsolvable, unsolvable
from gitcfg.solve.problem import (
    Contradiction,
    Numbers,
    PlacementComponent,
    PlacementComponents,
    PlacementProblem,
    Propagation,
    Rows,
    Spot,
    numbered,
)


class GreedyPlacement:
    """`true`: the undecided spots that are true. `hard`: the rows for which this may not be best."""

    def __init__(self, rows: Rows, settled: Propagation) -> None:
        self._rows, self._of, self._settled = rows.rows, rows.of, settled
        self._previous = [number for number in rows.previous if number not in settled.value]
        self.true = set(self._previous)
        self.hard: set[int] = set()
        self._have = list(settled.true)
        for number in self._previous:
            self._count(number, 1)
        self._fill(self._drop())
        self.hard.update(self._broken())

    def _count(self, number: int, change: int) -> None:
        for index in self._of[number]:
            self._have[index] += change

    def _drop(self) -> set[int]:
        """Drop the last spots over a maximum; return the rows that may now lack a member."""
        pairs = enumerate(zip(self._rows, self._have, strict=True))
        above = {index: have - row.most for index, (row, have) in pairs if have > row.most}
        standing = {index: sorted(n for n in self._rows[index].members if n in self.true) for index in above}
        self._own(standing.items())
        # The rows that need a spot, or another one instead.
        missed = {
            number: [index for index in self._of[number] if self._have[index] <= self._rows[index].least > 0]
            for numbers in standing.values()
            for number in numbers
        }
        for index, numbers in standing.items():
            fewest = min(len(missed[number]) for number in numbers)
            last = numbers[-above[index] :]
            if any(len(missed[number]) > 1 for number in numbers) or self._remove(last) > fewest * len(last):
                self.hard.add(index)
        return {index for rows in missed.values() for index in rows}

    def _remove(self, numbers: Iterable[int]) -> int:
        """Drop spots, and return the number of other spots that are needed instead."""
        lost = 0
        for number in self.true.intersection(numbers):  # two rows may drop the same one
            self.true.discard(number)
            self._count(number, -1)
            lost += sum(self._have[index] < self._rows[index].least for index in self._of[number])
        return lost

    def _own(self, wanted: Iterable[tuple[int, Iterable[int]]]) -> dict[int, int]:
        """Return the row of each spot. If two rows need a spot, neither has a simple solution."""
        owners: dict[int, int] = {}
        for index, numbers in wanted:
            for number in numbers:
                other = owners.setdefault(number, index)
                if other != index:
                    self.hard.update((index, other))
        return owners

    def _fill(self, loose: set[int]) -> None:
        pairs = enumerate(zip(self._rows, self._have, strict=True))
        lacking = {index: row.least - have for index, (row, have) in pairs if have < row.least}
        known = self._settled.value.keys() | self._previous
        wanted = sorted(loose.union(lacking))
        owners = self._own((i, [n for n in self._rows[i].members if n not in known]) for i in wanted)
        for number in sorted(owners):
            if lacking.get(owners[number]) and all(
                self._have[index] < self._rows[index].most for index in self._of[number]
            ):
                lacking[owners[number]] -= 1
                self.true.add(number)
                self._count(number, 1)

    def _broken(self) -> Iterator[int]:
        value, true = self._settled.value, self.true
        for index, row in enumerate(self._rows):
            if row.arrow:
                one, other = row.members
                if (one in true or value.get(one)) and not (other in true or value.get(other)):
                    yield index
            elif not row.least <= self._have[index] <= row.most:
                yield index


# Places things at slots: with the fewest changes, then the fewest spots, then the first spots.

_Search = Callable[[PlacementComponent, Budget], frozenset[int] | None]


def place(problem: PlacementProblem, work: float = WORK) -> tuple[Spot, ...] | Unsolvable:
    """Return what is to be placed besides what is fixed, in canonical order.

    This is the only solution that, first, changes the fewest previous spots; second, places the fewest;
    third, has the first spot where two solutions differ: previous spots first, then by things, then by slots.

    Raises:
        Exhausted: It takes more work to find it, or to find why there is none.
    """
    numbers = Numbers(problem)
    rows = numbered(problem, numbers)
    try:
        true = _placed(rows, _best, Budget(work))
    except Contradiction as found:
        return unsolvable(rows, rows.some(found.rows), partial(_conflict, budget=Budget(work)))
    fixed = set(numbers.many([found.spot for found in problem.fixed]))
    return tuple(numbers.spot(number) for number in sorted(true - fixed))


def _placed(rows: Rows, search: _Search, budget: Budget) -> set[int]:
    """Return all spots that are true.

    Raises:
        Contradiction: There is no solution.
    """
    settled = Propagation(rows)
    filling = GreedyPlacement(rows, settled)
    true = filling.true
    for part in PlacementComponents(rows, settled).of(filling.hard):
        found = search(part, budget)
        if found is None:
            from gitcfg.solve.cp_sat import core

            raise Contradiction(core(rows, settled.reasons(part.origins)))
        true.difference_update(*(settled.undecided(rows.rows[index]) for index in part.origins))
        true |= found
    return true | {number for number, value in settled.value.items() if value}


def _conflict(rows: Rows, budget: Budget) -> Collection[str] | None:
    try:
        _placed(rows, _some, budget)
    except Contradiction as found:
        return {rows.rows[index].cause for index in found.rows}
    return None


def _best(part: PlacementComponent, budget: Budget) -> frozenset[int] | None:
    from gitcfg.solve.cp_sat import best

    return best(part, budget)


def _some(part: PlacementComponent, budget: Budget) -> frozenset[int] | None:
    from gitcfg.solve.cp_sat import some

    return some(part, budget)
