"""A problem of placement in numbers: its spots in canonical order, all that must hold as rows over them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from gitcfg.solve.placing import Placing, Spot


class Row(Struct, frozen=True, gc=False):
    """So many of the members are true. An arrow: where the first of its two members is, the second is."""

    cause: str
    least: int
    most: int
    members: Sequence[int]
    arrow: bool = False


class Rows(Struct, frozen=True):
    """What must hold, and in which rows a spot stands. `stood`: the spots that were true."""

    rows: Sequence[Row]
    of: Mapping[int, Sequence[int]]
    stood: frozenset[int] = frozenset()

    def causes(self) -> tuple[str, ...]:
        """All of them, in the order of the problem."""
        return tuple(dict.fromkeys(row.cause for row in self.rows))

    def only(self, causes: Collection[str]) -> "Rows":
        """What has one of these causes; nothing stood."""
        return related([row for row in self.rows if row.cause in causes])

    def some(self, indices: Collection[int]) -> "Rows":
        """These rows alone; nothing stood."""
        return related([self.rows[index] for index in sorted(indices)])


class Numbers:
    """The numbers of spots: in order of things, then of slots."""

    def __init__(self, problem: Placing) -> None:
        self._slots, self._things = problem.slots, problem.things
        self._slot = {slot: number for number, slot in enumerate(problem.slots)}
        self._thing = {thing: number * len(self._slot) for number, thing in enumerate(problem.things)}

    def many(self, spots: Collection[Spot]) -> list[int]:
        """Each spot's, once."""
        thing, slot = self._thing, self._slot
        found = [thing[spot[0]] + slot[spot[1]] for spot in spots]
        return found if len(set(found)) == len(found) else list(dict.fromkeys(found))

    def known(self, spots: Collection[Spot]) -> list[int]:
        """Those of spots whose thing and slot there are."""
        return self.many([spot for spot in spots if spot[0] in self._thing and spot[1] in self._slot])

    def spot(self, number: int) -> Spot:
        """Which one has it."""
        thing, slot = divmod(number, len(self._slots))
        return self._things[thing], self._slots[slot]


def numbered(problem: Placing, numbers: Numbers) -> Rows:
    """All that must hold, as rows; rules' bounds first."""
    found = related(list(_rows(problem, numbers)))
    return Rows(found.rows, found.of, frozenset(numbers.known(problem.stood)) & wanted(found.rows))


def wanted(rows: Sequence[Row]) -> set[int]:
    """What something may ask for: the others are in the way of limits at most."""
    found = {row.members[1] for row in rows if row.arrow}
    for row in rows:
        if row.least > 0:
            found.update(row.members)
    return found


def related(rows: Sequence[Row]) -> Rows:
    """Rows with where each spot stands."""
    of: dict[int, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        for member in row.members:
            of[member].append(index)
    return Rows(rows, of)


def _rows(problem: Placing, numbers: Numbers) -> Iterator[Row]:
    for bound in problem.bounds:
        members = numbers.many(bound.members)
        most = len(members) if bound.most is None else bound.most
        yield Row(bound.cause, bound.least, most, members)
    for fixed in problem.fixed:
        yield Row(fixed.cause, int(fixed.placed), int(fixed.placed), numbers.many((fixed.spot,)))
    for found in problem.implied:
        members = numbers.many((found.spot, found.needs))
        yield Row(found.cause, 0, 2, members, arrow=len(members) == 2)
    for pair in problem.excluded:
        members = numbers.many((pair.one, pair.other))
        yield Row(pair.cause, 0, len(members) - 1, members)
