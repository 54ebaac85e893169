"""Values for one component of slots by CP-SAT: what is kept, and what groups that overlap leave."""

from collections import defaultdict
from collections.abc import Iterator

from gitcfg.solve.answer import Budget
from gitcfg.solve.giving import Value
from gitcfg.solve.kin import Kin
from gitcfg.solve.rows import Row
from gitcfg.solve.sat import Model, first

_MOST = 1_000_000
"""Pairs of slot and value beyond which there is no use in beginning: it would take more than the budget."""


class Assigning:
    """What a component may do, as a model.

    Raises:
        Exhausted: It is too large.
    """

    def __init__(self, kin: Kin, budget: Budget) -> None:
        if sum(map(len, kin.open)) > _MOST:
            raise budget.exhausted()
        self._kin = kin
        self._pairs = [(slot, value) for slot in range(len(kin.slots)) for value in kin.values(slot)]
        self._groups = [
            [n for n, group in enumerate(kin.groups) if slot in group] for slot in range(len(kin.slots))
        ]
        self._of: list[dict[Value, int]] = [{} for _ in kin.slots]
        for number, (slot, value) in enumerate(self._pairs):
            self._of[slot][value] = number
        self._model = Model(range(len(self._pairs)), budget)
        for row in self._rows():
            self._model.add(row)

    def some(self) -> dict[int, Value] | None:
        """Some answer; None: there is none."""
        found = self._model.solve()
        return None if found is None else self._values(found)

    def kept(self) -> dict[int, Value]:
        """The slots that keep what they had: as many as can, of those the first; from now on they do."""
        kept = [self._of[slot][value] for slot, value in enumerate(self._kin.keeps) if value is not None]
        if not kept:
            return {}
        weights = dict.fromkeys(kept, -1)
        found = (self._model.least(weights) or frozenset()).intersection(kept)
        self._model.hold(weights, found)
        return self._values(first(self._model, kept, found).intersection(kept))

    def best(self) -> dict[int, Value]:
        """The best answer: each slot in turn has the first value that leaves one for all after it."""
        given = self.kept()
        found = self._model.solve() or frozenset()
        for slot in range(len(self._of)):
            near = {given[other] for other in self._near(slot) if other in given}
            ranks = [self._of[slot][value] for value in self._kin.values(slot) if value not in near]
            if slot not in given and ranks[0] not in found:
                found = self._model.least({n: rank for rank, n in enumerate(ranks)}) or found
            given[slot] = next(value for value, number in self._of[slot].items() if number in found)
            self._model.fix(self._of[slot][given[slot]], True)
        return given

    def _near(self, slot: int) -> Iterator[int]:
        """The slots that differ from one."""
        return (other for group in self._groups[slot] for other in self._kin.groups[group] if other != slot)

    def _values(self, found: frozenset[int]) -> dict[int, Value]:
        return dict(self._pairs[number] for number in sorted(found))

    def _rows(self) -> Iterator[Row]:
        """Each slot has one value, and in each group a value is one slot's."""
        for numbers in self._of:
            yield Row("", 1, 1, list(numbers.values()))
        for group in self._kin.groups:
            sharing: dict[Value, list[int]] = defaultdict(list)
            for slot in group:
                for value, number in self._of[slot].items():
                    sharing[value].append(number)
            yield from (Row("", 0, 1, numbers) for numbers in sharing.values() if len(numbers) > 1)
