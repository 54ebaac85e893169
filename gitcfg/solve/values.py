"""Values for slots: each keeps its old value, the others get the first free value.

Where this suffices it is best: all values that can be kept are kept, and each slot gets the least value that
those before it leave. Slots that must all differ are solved by bipartite matching, and only the rest by the
solver.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from gitcfg.solve.conflicts import WORK, Budget, Unsolvable, unsolvable
from gitcfg.solve.problem import (
    NumberedSlots,
    Value,
    ValueComponent,
    ValueComponents,
    ValueConflict,
    ValueProblem,
)

# Values for slots that must all differ: bipartite matching by augmenting paths, up to the first solution.


class Matching:
    """A different possible value for each slot; `locked` ones are assigned already.

    `short`: without a solution, slots that have fewer possible values than they are (Hall).
    """

    def __init__(self, kin: ValueComponent, locked: Mapping[int, Value]) -> None:
        self._kin = kin
        self._locked = set(locked.values())
        self.values: dict[int, Value] = dict(locked)
        self._owner = {value: slot for slot, value in locked.items()}
        self._later = [slot for slot in range(len(kin.slots)) if slot not in locked]
        self._begin_search()
        self.short: frozenset[int] | None = None
        for slot in [slot for slot in self._later if not self._take_free(slot)]:
            self._begin_search()
            if not self._find(slot):
                self.short = frozenset((slot, *(self._owner[value] for value in self._dead)))
                break

    def settle(self) -> None:
        """Assign to each slot in turn the first value that leaves one for every later slot."""
        begins: dict[int, int] = {}
        for slot in self._later:
            self._begin_search()
            values = self._kin.open[slot]
            begin = begins.get(id(values), 0)
            while begin < len(values) and values[begin] in self._locked:
                begin += 1
            begins[id(values)] = begin
            mine = self.values[slot]
            for place in range(begin, len(values)):
                if values[place] == mine or self._swap(slot, values[place]):
                    break
            self._locked.add(self.values[slot])

    def _begin_search(self) -> None:
        """Forget which values are dead ends, and how far lists have been searched."""
        self._dead: set[Value] = set()
        self._cursors: dict[int, Iterator[Value]] = {}

    def _take_free(self, slot: int) -> bool:
        """Take the first free value: most slots find one without a path."""
        for value in self._cursor(slot):
            if value not in self._owner:
                self._shift((slot,), (value,))
                return True
        return False

    def _swap(self, slot: int, value: Value) -> bool:
        """Take a value. The slot that has it must find another one, possibly the old value of this slot."""
        if value in self._locked or value in self._dead:
            return False
        mine, other = self.values[slot], self._owner.get(value)
        del self._owner[mine]
        self._dead.add(value)
        if other is not None and not self._find(other):
            self._owner[mine] = slot
            return False
        self._shift((slot,), (value,))
        return True

    def _find(self, slot: int) -> bool:
        """Find a value for a slot by a path of slots that change theirs."""
        slots, values = [slot], list[Value]()
        while slots:
            value = self._next(slots[-1])
            if value is None:
                slots.pop()
                del values[-1:]
                continue
            self._dead.add(value)
            values.append(value)
            if value not in self._owner:
                self._shift(slots, values)
                return True
            slots.append(self._owner[value])
        return False

    def _next(self, slot: int) -> Value | None:
        """Return the next value that a search has not tried; slots with the same list share its position."""
        for value in self._cursor(slot):
            if value not in self._dead and value not in self._locked:
                return value
        last = self._kin.extra[slot]
        return None if last in self._dead or last in self._locked else last

    def _cursor(self, slot: int) -> Iterator[Value]:
        values = self._kin.open[slot]
        if id(values) not in self._cursors:
            self._cursors[id(values)] = iter(values)
        return self._cursors[id(values)]

    def _shift(self, slots: Sequence[int], values: Sequence[Value]) -> None:
        for slot, value in zip(slots, values, strict=True):
            self.values[slot] = value
            self._owner[value] = slot


# Values that are kept, and first free values.


class GreedyValues:
    """`values` of slots that need one. `hard`: the slots for which these may not be the best."""

    def __init__(self, wanting: NumberedSlots) -> None:
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
        """Keep old values.

        Of several slots with the same one, the first keeps it: best if all must differ.
        """
        claims: dict[tuple[int, Value], list[int]] = defaultdict(list)
        for number in self._needy:
            value = self._wanting.keeps(number)
            if value is not None:
                for group in self._wanting.groups[number]:
                    claims[group, value].append(number)
                if not any(value in self._taken[group] for group in self._wanting.groups[number]):
                    self._take(number, value)
        rivals: dict[int, set[tuple[int, ...]]] = defaultdict(set)
        for numbers in claims.values():
            for number in numbers if len(numbers) > 1 else ():
                rivals[number].add(tuple(numbers))
        self.hard.update(number for number, several in rivals.items() if len(several) > 1)

    def _give(self, number: int) -> None:
        """Assign a first free value.

        Values before a cursor are taken for slots of the same domains and groups.
        """
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


# Assigns values to slots: as many as possible keep theirs, each of the others in turn gets the first.

_Search = Callable[[ValueComponent, Budget], dict[int, Value] | None]


def assign_values(problem: ValueProblem, work: float = WORK) -> dict[str, Value] | Unsolvable:
    """Return a value for each slot that has none by hand, in order of slots.

    This is the only solution in which, first, the most slots keep their values; second, where solutions
    differ in the slots that do, the first such slot keeps its value; third, the first slot where two
    solutions differ has the value that comes first in its domains.

    Raises:
        Exhausted: It takes more work to find it, or to find why there is none.
    """
    try:
        values = _given(problem, _best, Budget(work))
    except ValueConflict as found:
        part = problem.some({problem.wants[number].slot for number in found.slots})
        return unsolvable(problem, part, partial(_conflict, budget=Budget(work)))
    return {problem.wants[number].slot: values[number] for number in sorted(values)}


def _given(problem: ValueProblem, search: _Search, budget: Budget) -> dict[int, Value]:
    """Return the values by number.

    Raises:
        ValueConflict: There is no solution.
    """
    wanting = NumberedSlots(problem)
    handing = GreedyValues(wanting)
    values = handing.values
    for kin in ValueComponents(wanting).of(handing.hard) if handing.hard else ():
        short = _short(kin)
        found = None if short is not None else search(kin, budget)
        if found is None:
            slots = [kin.slots[place] for place in short or range(len(kin.slots))]
            raise ValueConflict(wanting.holders(slots).union(slots))
        values.update((kin.slots[place], value) for place, value in found.items())
    return values


def _short(kin: ValueComponent) -> Collection[int] | None:
    """Return slots with too few possible values, as far as counting finds any."""
    empty = next((place for place in range(len(kin.slots)) if not kin.open[place]), None)
    if empty is not None:
        return (empty,)
    return Matching(kin, {}).short if kin.together else None


def _best(kin: ValueComponent, budget: Budget) -> dict[int, Value] | None:
    if not kin.together:
        from gitcfg.solve.cp_sat import Assigning

        made = Assigning(kin, budget)
        return None if made.some() is None else made.best()
    # All that can be kept if the others find a value: of several slots with the same one, the first.
    first: dict[Value, int] = {}
    for place, value in enumerate(kin.keeps):
        if value is not None:
            first.setdefault(value, place)
    found = Matching(kin, {place: value for value, place in first.items()})
    if found.short is not None:
        from gitcfg.solve.cp_sat import Assigning

        found = Matching(kin, Assigning(kin, budget).keep())
    found.settle()
    return found.values


def _some(kin: ValueComponent, budget: Budget) -> dict[int, Value] | None:
    if kin.together:
        return Matching(kin, {}).values
    from gitcfg.solve.cp_sat import Assigning

    return Assigning(kin, budget).some()


def _conflict(problem: ValueProblem, budget: Budget) -> Collection[str] | None:
    try:
        _given(problem, _some, budget)
    except ValueConflict as found:
        return problem.some({problem.wants[number].slot for number in found.slots}).causes()
    return None
