"""Let slots keep what they had, and give the others the first free value: best where it works.

Why it is best: all that can be kept is; and as each slot gets the least value that those before it leave,
no other answer comes first.
"""

from collections import defaultdict
from collections.abc import Iterator

from gitcfg.solve.giving import Value
from gitcfg.solve.wanting import Wanting


class Handing:
    """`values` of slots that need one. `hard`: the slots for which these are not known to be the best."""

    def __init__(self, wanting: Wanting) -> None:
        self._wanting = wanting
        self._needy = [
            number for number, want in enumerate(wanting.wants) if want.within and not want.by_hand
        ]
        self.values: dict[int, Value] = {}
        self.hard: set[int] = set()
        self._taken: list[set[Value]] = [set(held) for held in wanting.held]
        self._cursors: dict[object, Iterator[Value]] = {}
        self._keep()
        for number in self._needy:
            if number not in self.values:
                self._give(number)

    def _keep(self) -> None:
        """Of several that had the same value the first keeps it, which is best if they all differ."""
        claims: dict[tuple[int, Value], list[int]] = defaultdict(list)
        for number in self._needy:
            value = self._wanting.keeps(number)
            if value is not None:
                for group in self._wanting.groups[number]:
                    claims[group, value].append(number)
                if not any(value in self._taken[group] for group in self._wanting.groups[number]):
                    self._take(number, value)
        self._doubt([numbers for numbers in claims.values() if len(numbers) > 1])

    def _doubt(self, claims: list[list[int]]) -> None:
        rivals: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        for numbers in claims:
            for number in numbers:
                rivals[number].add(tuple(numbers))
        self.hard.update(number for number, several in rivals.items() if len(several) > 1)

    def _give(self, number: int) -> None:
        """Values before a cursor are taken for all slots of the same domains and groups, and stay so."""
        groups = self._wanting.groups[number]
        key = self._wanting.kinds[number], groups
        if not groups or key not in self._cursors:
            self._cursors[key] = iter(self._wanting.domain(number))
        for value in self._cursors[key]:
            if not any(value in self._taken[group] for group in groups):
                self._take(number, value)
                return
        self.hard.add(number)

    def _take(self, number: int, value: Value) -> None:
        self.values[number] = value
        for group in self._wanting.groups[number]:
            self._taken[group].add(value)
