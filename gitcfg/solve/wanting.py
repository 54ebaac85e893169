"""A problem of values in numbers: slots in order, the groups they differ in, what is open to each."""

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from itertools import islice
from operator import and_

from gitcfg.solve.giving import Domain, Giving, Value, Want


class Clash(Exception):
    """There is no answer for these slots alone."""

    def __init__(self, slots: Collection[int]) -> None:
        super().__init__(f"{len(slots)} slots")
        self.slots = frozenset(slots)


class Wanting:
    """The wants by number. `groups`: of each slot; `held`: of each group, the values set by hand and where.

    Raises:
        Clash: Values set by hand are outside their domains, or equal in a group.
    """

    def __init__(self, problem: Giving) -> None:
        self.wants = problem.wants
        self._numbers = {want.slot: number for number, want in enumerate(problem.wants)}
        self.members = [self._known(apart.slots) for apart in problem.apart]
        found: list[list[int]] = [[] for _ in self.wants]
        for group, members in enumerate(self.members):
            for number in members:
                found[number].append(group)
        self.groups = [tuple(groups) for groups in found]
        self.held: list[dict[Value, int]] = [{} for _ in self.members]
        self._domains: dict[tuple[int, ...], Domain] = {}
        self.kinds = [tuple(sorted({id(one.domain) for one in want.within})) for want in self.wants]
        for number, want in enumerate(self.wants):
            if want.by_hand:
                self._hold(number, want, want.by_hand.value)

    def domain(self, number: int) -> Domain:
        """What all the domains of a slot have in common."""
        kind = self.kinds[number]
        if kind not in self._domains:
            self._domains[kind] = reduce(and_, (one.domain for one in self.wants[number].within))
        return self._domains[kind]

    def allows(self, number: int, value: Value) -> bool:
        """Is a value within a slot's domains, and no other's by hand?"""
        return value in self.domain(number) and not any(value in self.held[n] for n in self.groups[number])

    def first(self, number: int, count: int) -> Sequence[Value]:
        """The first values that are open to a slot, at most so many."""
        return tuple(islice(self._open(number), count))

    def keeps(self, number: int) -> Value | None:
        """The value that stood, where it is still open."""
        stood = self.wants[number].stood
        return stood if stood is not None and self.allows(number, stood) else None

    def holders(self, numbers: Collection[int]) -> set[int]:
        """Those that have values by hand which these slots could have otherwise."""
        return {
            holder
            for number in numbers
            for group in self.groups[number]
            for value, holder in self.held[group].items()
            if value in self.domain(number)
        }

    def _open(self, number: int) -> Iterator[Value]:
        held = [self.held[group] for group in self.groups[number] if self.held[group]]
        return (value for value in self.domain(number) if not any(value in one for one in held))

    def _known(self, slots: Sequence[str]) -> list[int]:
        return sorted({self._numbers[slot] for slot in slots if slot in self._numbers})

    def _hold(self, number: int, want: Want, value: Value) -> None:
        if not all(value in one.domain for one in want.within):
            raise Clash((number,))
        for group in self.groups[number]:
            other = self.held[group].setdefault(value, number)
            if other != number:
                raise Clash((other, number))
