"""The connected components of what is still undecided."""

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from gitcfg.solve.rows import Row, Rows
from gitcfg.solve.settled import Settled


class Part(Struct, frozen=True):
    """Spots, those that stood first, and the rows about them, which count these spots alone.

    A spot that did not stand and that no row needs is in none: it is false. `origins`: the rows' numbers.
    """

    numbers: Sequence[int]
    rows: Sequence[Row]
    origins: Sequence[int]
    stood: frozenset[int]


class Parts:
    """Finds the components that rows belong to."""

    def __init__(self, rows: Rows, settled: Settled) -> None:
        self._rows, self._settled = rows, settled
        self._live: dict[int, list[int]] = {}

    def of(self, starts: Collection[int]) -> Iterator[Part]:
        """Each once."""
        seen: set[int] = set()
        for start in sorted(starts):
            if start not in seen:
                indices = self._connected(start)
                seen |= indices
                yield self._part(sorted(indices))

    def _connected(self, start: int) -> set[int]:
        indices, waiting = {start}, [start]
        while waiting:
            for number in self._members(waiting.pop()):
                for index in self._rows.of[number]:
                    if index not in indices and self._binds(index):
                        indices.add(index)
                        waiting.append(index)
        return indices

    def _members(self, index: int) -> list[int]:
        """Those that may be either, and true for a reason."""
        if index not in self._live:
            found = self._settled.undecided(self._rows.rows[index])
            self._live[index] = [number for number in found if self._is_live(number)]
        return self._live[index]

    def _is_live(self, number: int) -> bool:
        return number in self._rows.stood or any(
            self._needs(index, number) for index in self._rows.of[number]
        )

    def _needs(self, index: int, number: int) -> bool:
        row = self._rows.rows[index]
        return row.members[1] == number if row.arrow else self._settled.true[index] < row.least

    def _binds(self, index: int) -> bool:
        """May it be broken still?"""
        row, true, live = self._rows.rows[index], self._settled.true[index], len(self._members(index))
        return live == 2 if row.arrow else true < row.least or true + live > row.most

    def _part(self, indices: Sequence[int]) -> Part:
        found = []
        for index in indices:
            row, true = self._rows.rows[index], self._settled.true[index]
            least, most = max(row.least - true, 0), row.most - true
            found.append(Row(row.cause, least, most, self._members(index), row.arrow))
        numbers = {number for row in found for number in row.members}
        stood = self._rows.stood & numbers
        return Part([*sorted(stood), *sorted(numbers - stood)], found, indices, stood)
