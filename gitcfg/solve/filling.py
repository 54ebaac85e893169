"""Keep what stands, drop the last where it is too many, fill with the first that fit: best where it works.

Why it is best: a spot is dropped for one bound, and makes at most one other lack a member; bounds that may
come to lack one share no spot that could be added. So nothing does with fewer changes. Of what stands the
last was dropped, which any other answer would keep too many of; and a spot is added unless those that stay
or come before it forbid that, so no other answer comes first.
"""

from collections.abc import Iterable, Iterator

from gitcfg.solve.rows import Rows
from gitcfg.solve.settled import Settled


class Filling:
    """`true`: the undecided spots that are true. `hard`: the rows where this is not known to be best."""

    def __init__(self, rows: Rows, settled: Settled) -> None:
        self._rows, self._of, self._settled = rows.rows, rows.of, settled
        self._stood = [number for number in rows.stood if number not in settled.value]
        self.true = set(self._stood)
        self.hard: set[int] = set()
        self._have = list(settled.true)
        for number in self._stood:
            self._count(number, 1)
        self._fill(self._drop())
        self.hard.update(self._broken())

    def _count(self, number: int, change: int) -> None:
        for index in self._of[number]:
            self._have[index] += change

    def _drop(self) -> set[int]:
        """Drop the last of those too many; the rows that could have come to lack a member."""
        pairs = enumerate(zip(self._rows, self._have, strict=True))
        above = {index: have - row.most for index, (row, have) in pairs if have > row.most}
        standing = {index: self._standing(index) for index in above}
        self._own(standing.items())
        missed = {number: self._missed(number) for numbers in standing.values() for number in numbers}
        for index, numbers in standing.items():
            fewest = min(len(missed[number]) for number in numbers)
            last = numbers[-above[index] :]
            if any(len(missed[number]) > 1 for number in numbers) or self._lost(last) > fewest * len(last):
                self.hard.add(index)
        return {index for rows in missed.values() for index in rows}

    def _standing(self, index: int) -> list[int]:
        return sorted(number for number in self._rows[index].members if number in self.true)

    def _missed(self, number: int) -> list[int]:
        """The rows that need a spot, or one instead."""
        return [index for index in self._of[number] if self._have[index] <= self._rows[index].least > 0]

    def _lost(self, numbers: Iterable[int]) -> int:
        """Drop spots; how many others are needed instead."""
        lost = 0
        for number in self.true.intersection(numbers):  # two rows may drop the same one
            self.true.discard(number)
            self._count(number, -1)
            lost += sum(self._have[index] < self._rows[index].least for index in self._of[number])
        return lost

    def _own(self, wanted: Iterable[tuple[int, Iterable[int]]]) -> dict[int, int]:
        """Which row a spot is for: where two want it, neither is filled or emptied simply."""
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
        known = self._settled.value.keys() | self._stood
        wanted = sorted(loose.union(lacking))
        owners = self._own((i, [n for n in self._rows[i].members if n not in known]) for i in wanted)
        for number in sorted(owners):
            if lacking.get(owners[number]) and self._fits(number):
                lacking[owners[number]] -= 1
                self.true.add(number)
                self._count(number, 1)

    def _fits(self, number: int) -> bool:
        return all(self._have[index] < self._rows[index].most for index in self._of[number])

    def _broken(self) -> Iterator[int]:
        value, true = self._settled.value, self.true
        for index, row in enumerate(self._rows):
            if row.arrow:
                one, other = row.members
                if (one in true or value.get(one)) and not (other in true or value.get(other)):
                    yield index
            elif not row.least <= self._have[index] <= row.most:
                yield index
