"""The best answer of one component, by CP-SAT."""

from collections.abc import Collection

from gitcfg.solve.answer import Budget, Exhausted
from gitcfg.solve.part import Part
from gitcfg.solve.rows import Rows
from gitcfg.solve.sat import AT_ONCE, Model, first

_CORE = 0.5
"""Work for a first guess at what cannot hold together: counting arguments are found without causes only."""


def some(part: Part, budget: Budget) -> frozenset[int] | None:
    """Some answer; None: there is none."""
    return _model(part, budget).solve()


def best(part: Part, budget: Budget) -> frozenset[int] | None:
    """The answer with the fewest changes, of those with the fewest spots, of those the first."""
    model = _model(part, budget)
    change = len(part.numbers) + 1
    weights = {number: 1 + (-change if number in part.stood else change) for number in part.numbers}
    found = model.least(weights)
    if found is None:
        return None
    model.hold(weights, found)
    return _First(part, model).after(found)


def core(rows: Rows, indices: Collection[int]) -> frozenset[int]:
    """Of rows that cannot all hold, those of causes that suffice for that, as far as that is soon known."""
    found = rows.some(indices)
    model = Model(found.of, Budget(_CORE))
    for row in found.rows:
        model.add(row, row.cause)
    try:
        causes = model.conflict()
    except Exhausted:
        return frozenset(indices)
    return frozenset(index for index in indices if rows.rows[index].cause in causes)


def _model(part: Part, budget: Budget) -> Model:
    model = Model(part.numbers, budget)
    for row in part.rows:
        model.add(row)
    return model


class _First:
    """Looks for the answer whose spots come first, among answers with as many."""

    def __init__(self, part: Part, model: Model) -> None:
        self._model = model
        self._waiting = list(reversed(part.numbers))
        self._room = [row.most for row in part.rows]
        self._of: dict[int, list[int]] = {number: [] for number in part.numbers}
        for index, row in enumerate(part.rows):
            for number in () if row.arrow else row.members:
                self._of[number].append(index)

    def after(self, found: frozenset[int]) -> frozenset[int]:
        """The first answer; this is one that is as good otherwise."""
        left = len(found)
        while left:
            some = self._next(found)
            found = first(self._model, some, found)
            taken = found.intersection(some)
            for index in (index for number in taken for index in self._of[number]):
                self._room[index] -= 1
            left -= len(taken)
        return found

    def _next(self, found: frozenset[int]) -> list[int]:
        """The next spots that what is taken leaves room for. One that comes first is taken by itself."""
        some: list[int] = []
        while self._waiting and len(some) < AT_ONCE:
            if self._waiting[-1] in found and not some:
                return [self._waiting.pop()]
            number = self._waiting.pop()
            if all(self._room[index] for index in self._of[number]):
                some.append(number)
        return some
