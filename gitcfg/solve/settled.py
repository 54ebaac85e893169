"""What must be true or false in every answer: unit propagation over rows, with the reasons kept."""

from collections.abc import Iterable, Iterator

from gitcfg.solve.rows import Row, Rows


class Contradiction(Exception):
    """These rows cannot all hold."""

    def __init__(self, rows: frozenset[int]) -> None:
        super().__init__(f"{len(rows)} rows")
        self.rows = rows


class Settled:
    """The spots that are decided; of each row how many are true (`true`) and undecided (`open`).

    Raises:
        Contradiction: There is no answer.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows, self._of = rows.rows, rows.of
        self.value: dict[int, bool] = {}
        self._why: dict[int, tuple[int, int]] = {}
        self.true = [0] * len(self._rows)
        self.open = [len(row.members) for row in self._rows]
        self._waiting: list[int] = []
        self._done = bytearray(len(self._rows))
        for index in range(len(self._rows)):
            self._look(index)
            self._spread()

    def undecided(self, row: Row) -> list[int]:
        """Its members that may be either."""
        return [member for member in row.members if member not in self.value]

    def reasons(self, rows: Iterable[int]) -> set[int]:
        """These rows, and those for which their members are as they are."""
        found = set(rows)
        seen: set[int] = set()
        waiting = [member for index in found for member in self._rows[index].members if member in self.value]
        while waiting:
            member = waiting.pop()
            if member not in seen:
                seen.add(member)
                found.add(self._why[member][0])
                waiting += self._before(member)
        return found

    def _before(self, member: int) -> Iterator[int]:
        """The members for which a row decided this one: earlier, and of the other value."""
        index, rank = self._why[member]
        row = self._rows[index]
        for other in row.members:
            earlier = other in self._why and self._why[other][1] < rank
            if earlier and (row.arrow or self.value[other] != self.value[member]):
                yield other

    def _spread(self) -> None:
        while self._waiting:
            member = self._waiting.pop()
            for index in self._of[member]:
                self.open[index] -= 1
                self.true[index] += self.value[member]
            for index in self._of[member]:
                self._look(index)

    def _look(self, index: int) -> None:
        row = self._rows[index]
        if row.arrow:
            self._point(index, *row.members)
        elif self.true[index] > row.most or self.true[index] + self.open[index] < row.least:
            raise self._contradicted(index)
        elif row.least > row.most:
            raise Contradiction(frozenset((index,)))
        elif not self._done[index]:
            self._close(index, row)

    def _close(self, index: int, row: Row) -> None:
        """Decide all others of a row that has as many as may be, or no more than must."""
        full = self.true[index] == row.most
        if full or self.true[index] + self.open[index] == row.least:
            self._done[index] = True
            self._decide(index, row.members, value=not full)

    def _point(self, index: int, one: int, other: int) -> None:
        if self.value.get(one) and self.value.get(other) is False:
            raise self._contradicted(index)
        if self.value.get(one):
            self._decide(index, (other,), value=True)
        elif self.value.get(other) is False:
            self._decide(index, (one,), value=False)

    def _decide(self, index: int, members: Iterable[int], *, value: bool) -> None:
        for member in members:
            if member not in self.value:
                self._why[member] = index, len(self._why)
                self.value[member] = value
                self._waiting.append(member)

    def _contradicted(self, index: int) -> Contradiction:
        return Contradiction(frozenset(self.reasons((index,))))
