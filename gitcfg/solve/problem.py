"""What to place where, and the constraints: plain data without nodes or rules."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import and_
from typing import Protocol, Self

from msgspec import Struct

Spot = tuple[str, str]
"""A thing at a slot."""


class Bound(Struct, frozen=True, gc=False):
    """The minimum and maximum number of members that are placed; maximum None: all may be."""

    cause: str
    least: int
    most: int | None
    members: Sequence[Spot]


class Fixed(Struct, frozen=True, gc=False):
    """A spot that is fixed by hand: placed, or not to be placed."""

    cause: str
    spot: Spot
    placed: bool


class Implies(Struct, frozen=True, gc=False):
    """If `spot` is placed, `needs` is."""

    cause: str
    spot: Spot
    needs: Spot


class Excludes(Struct, frozen=True, gc=False):
    """At most one of both is placed."""

    cause: str
    one: Spot
    other: Spot


class PlacementProblem(Struct, frozen=True):
    """A problem of placement. The order of things and slots decides between equally good solutions.

    A spot in no bound, fixing, implication or exclusion is not placed. `previous` is what was placed before;
    spots that nothing demands any more (no bound with a minimum has it, nothing needs it) do not count.
    """

    things: Sequence[str]
    slots: Sequence[str]
    bounds: Sequence[Bound] = ()
    fixed: Sequence[Fixed] = ()
    implied: Sequence[Implies] = ()
    excluded: Sequence[Excludes] = ()
    previous: Collection[Spot] = ()


# A problem of placement in numbers: spots in canonical order, and all constraints as rows over them.


class Row(Struct, frozen=True, gc=False):
    """The number of members that are true. An arrow: the first of two members implies the second."""

    cause: str
    least: int
    most: int
    members: Sequence[int]
    arrow: bool = False


class Rows(Struct, frozen=True):
    """The constraints, and the rows of each spot. `previous`: the spots that were true."""

    rows: Sequence[Row]
    of: Mapping[int, Sequence[int]]
    previous: frozenset[int] = frozenset()

    def causes(self) -> tuple[str, ...]:
        """Return all causes, in the order of the problem."""
        return tuple(dict.fromkeys(row.cause for row in self.rows))

    def only(self, causes: Collection[str]) -> "Rows":
        """Return the rows with one of these causes, without previous spots."""
        return related([row for row in self.rows if row.cause in causes])

    def some(self, indices: Collection[int]) -> "Rows":
        """Return only these rows, without previous spots."""
        return related([self.rows[index] for index in sorted(indices)])


class Numbers:
    """The numbers of spots: in order of things, then of slots."""

    def __init__(self, problem: PlacementProblem) -> None:
        self._slots, self._things = problem.slots, problem.things
        self._slot = {slot: number for number, slot in enumerate(problem.slots)}
        self._thing = {thing: number * len(self._slot) for number, thing in enumerate(problem.things)}

    def many(self, spots: Collection[Spot]) -> list[int]:
        """Return the number of each spot, once."""
        thing, slot = self._thing, self._slot
        found = [thing[spot[0]] + slot[spot[1]] for spot in spots]
        return found if len(set(found)) == len(found) else list(dict.fromkeys(found))

    def known(self, spots: Collection[Spot]) -> list[int]:
        """Return the numbers of spots whose thing and slot exist."""
        return self.many([spot for spot in spots if spot[0] in self._thing and spot[1] in self._slot])

    def spot(self, number: int) -> Spot:
        """Return the spot of a number."""
        thing, slot = divmod(number, len(self._slots))
        return self._things[thing], self._slots[slot]


def numbered(problem: PlacementProblem, numbers: Numbers) -> Rows:
    """Return all constraints as rows; the bounds of rules first."""
    found = related(list(_rows(problem, numbers)))
    # A spot that no row may need can only exceed limits.
    needed = {row.members[1] for row in found.rows if row.arrow}
    for row in found.rows:
        if row.least > 0:
            needed.update(row.members)
    return Rows(found.rows, found.of, frozenset(numbers.known(problem.previous)) & needed)


def related(rows: Sequence[Row]) -> Rows:
    """Return rows with an index of each spot's rows."""
    of: dict[int, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        for member in row.members:
            of[member].append(index)
    return Rows(rows, of)


def _rows(problem: PlacementProblem, numbers: Numbers) -> Iterator[Row]:
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


# What is true or false in every solution: unit propagation over rows, with the reasons recorded.


class Contradiction(Exception):
    """These rows contradict each other."""

    def __init__(self, rows: frozenset[int]) -> None:
        super().__init__(f"{len(rows)} rows")
        self.rows = rows


class Propagation:
    """The spots that are decided; for each row the numbers of true (`true`) and undecided (`open`) members.

    Raises:
        Contradiction: There is no solution.
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
            self._check(index)
            self._propagate()

    def undecided(self, row: Row) -> list[int]:
        """Return the row's undecided members."""
        return [member for member in row.members if member not in self.value]

    def reasons(self, rows: Iterable[int]) -> set[int]:
        """Return these rows, and those that decided their members."""
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
        """Yield the members because of which a row decided this one: earlier ones, with the other value."""
        index, rank = self._why[member]
        row = self._rows[index]
        for other in row.members:
            earlier = other in self._why and self._why[other][1] < rank
            if earlier and (row.arrow or self.value[other] != self.value[member]):
                yield other

    def _propagate(self) -> None:
        while self._waiting:
            member = self._waiting.pop()
            for index in self._of[member]:
                self.open[index] -= 1
                self.true[index] += self.value[member]
            for index in self._of[member]:
                self._check(index)

    def _check(self, index: int) -> None:
        row = self._rows[index]
        if row.arrow:
            self._follow(index, *row.members)
        elif self.true[index] > row.most or self.true[index] + self.open[index] < row.least:
            raise self._contradicted(index)
        elif row.least > row.most:
            raise Contradiction(frozenset((index,)))
        elif not self._done[index]:
            # The other members are decided if a row has its maximum, or only its minimum is still possible.
            full = self.true[index] == row.most
            if full or self.true[index] + self.open[index] == row.least:
                self._done[index] = True
                self._decide(index, row.members, value=not full)

    def _follow(self, index: int, one: int, other: int) -> None:
        """Decide one member of an arrow by the other."""
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


# The connected components of what is still undecided.


class PlacementComponent(Struct, frozen=True):
    """Spots, previous ones first, and the rows about them, which count only these spots.

    A new spot that no row needs is in none: it is false. `origins`: the rows' numbers.
    """

    numbers: Sequence[int]
    rows: Sequence[Row]
    origins: Sequence[int]
    previous: frozenset[int]


class PlacementComponents:
    """Finds the components that rows belong to."""

    def __init__(self, rows: Rows, settled: Propagation) -> None:
        self._rows, self._settled = rows, settled
        self._live: dict[int, list[int]] = {}

    def of(self, starts: Collection[int]) -> Iterator[PlacementComponent]:
        """Yield each component once."""
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
                    if index not in indices and self._may_be_violated(index):
                        indices.add(index)
                        waiting.append(index)
        return indices

    def _members(self, index: int) -> list[int]:
        """Return the undecided members, and those that are true for a reason."""
        if index not in self._live:
            found = self._settled.undecided(self._rows.rows[index])
            self._live[index] = [number for number in found if self._is_live(number)]
        return self._live[index]

    def _is_live(self, number: int) -> bool:
        if number in self._rows.previous:
            return True
        for index in self._rows.of[number]:
            row = self._rows.rows[index]
            if row.members[1] == number if row.arrow else self._settled.true[index] < row.least:
                return True
        return False

    def _may_be_violated(self, index: int) -> bool:
        row, true, live = self._rows.rows[index], self._settled.true[index], len(self._members(index))
        return live == 2 if row.arrow else true < row.least or true + live > row.most

    def _part(self, indices: Sequence[int]) -> PlacementComponent:
        found = []
        for index in indices:
            row, true = self._rows.rows[index], self._settled.true[index]
            least, most = max(row.least - true, 0), row.most - true
            found.append(Row(row.cause, least, most, self._members(index), row.arrow))
        numbers = {number for row in found for number in row.members}
        previous = self._rows.previous & numbers
        return PlacementComponent([*sorted(previous), *sorted(numbers - previous)], found, indices, previous)


# Which slots need which values, and which of them must differ: plain data.

Value = int | str
"""A value in its normal form: equal values are equal here."""


class Domain(Protocol):
    """A set of values, in order from the least; it may be much too large to iterate over."""

    @property
    def size(self) -> int:
        """The number of values."""

    def __contains__(self, value: object, /) -> bool:
        """Return whether the domain has a value."""

    def __iter__(self) -> Iterator[Value]:
        """Yield all values lazily."""

    def __and__(self, other: Self, /) -> Self:
        """Return the values that are in both domains."""


class InDomain(Struct, frozen=True, gc=False):
    """The value is one of these."""

    cause: str
    domain: Domain


class GivenValue(Struct, frozen=True, gc=False):
    """The value is this one."""

    cause: str
    value: Value


class ValueSlot(Struct, frozen=True, gc=False):
    """A slot that needs a value within all of these, or has one by hand. `previous`: its old value."""

    slot: str
    within: Sequence[InDomain] = ()
    previous: Value | None = None
    by_hand: GivenValue | None = None


class AllDifferent(Struct, frozen=True, gc=False):
    """The values of these slots all differ."""

    cause: str
    slots: Sequence[str]


class ValueProblem(Struct, frozen=True):
    """A problem of values. The order of slots decides between equally good solutions.

    A slot that is in `apart` but needs no value does not have to differ from any other.
    """

    wants: Sequence[ValueSlot]
    apart: Sequence[AllDifferent] = ()

    def causes(self) -> tuple[str, ...]:
        """Return all causes; rules first."""
        found = [one.cause for want in self.wants for one in want.within]
        found += [one.cause for one in self.apart]
        found += [want.by_hand.cause for want in self.wants if want.by_hand]
        return tuple(dict.fromkeys(found))

    def only(self, causes: Collection[str]) -> "ValueProblem":
        """Return the demands with one of these causes, without previous values."""
        wants = []
        for want in self.wants:
            within = [one for one in want.within if one.cause in causes]
            by_hand = want.by_hand if want.by_hand and want.by_hand.cause in causes else None
            if within or by_hand:
                wants.append(ValueSlot(want.slot, within, None, by_hand))
        return ValueProblem(wants, [one for one in self.apart if one.cause in causes])

    def some(self, slots: Collection[str]) -> "ValueProblem":
        """Return only these slots."""
        return ValueProblem([want for want in self.wants if want.slot in slots], self.apart)


# A problem of values in numbers: slots in order, their groups, and their possible values.


class ValueConflict(Exception):
    """There is no solution even for these slots alone."""

    def __init__(self, slots: Collection[int]) -> None:
        super().__init__(f"{len(slots)} slots")
        self.slots = frozenset(slots)


class NumberedSlots:
    """The slots by number. `groups`: of each slot; `held`: of each group, the values set by hand and where.

    Raises:
        ValueConflict: Values set by hand are outside their domains, or equal in a group.
    """

    def __init__(self, problem: ValueProblem) -> None:
        self.wants = problem.wants
        self._numbers = {want.slot: number for number, want in enumerate(problem.wants)}
        self.members = [
            sorted({self._numbers[slot] for slot in apart.slots if slot in self._numbers})
            for apart in problem.apart
        ]
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
        """Return the intersection of all domains of a slot."""
        kind = self.kinds[number]
        if kind not in self._domains:
            self._domains[kind] = reduce(and_, (one.domain for one in self.wants[number].within))
        return self._domains[kind]

    def allows(self, number: int, value: Value) -> bool:
        """Return whether a value is within a slot's domains, and not set by hand in a group of the slot."""
        return value in self.domain(number) and not any(value in self.held[n] for n in self.groups[number])

    def first(self, number: int, count: int) -> Sequence[Value]:
        """Return the first possible values of a slot, up to a number."""
        held = [self.held[group] for group in self.groups[number] if self.held[group]]
        found = (value for value in self.domain(number) if not any(value in one for one in held))
        return tuple(islice(found, count))

    def keeps(self, number: int) -> Value | None:
        """Return the previous value if it is still possible."""
        previous = self.wants[number].previous
        return previous if previous is not None and self.allows(number, previous) else None

    def holders(self, numbers: Collection[int]) -> set[int]:
        """Return the slots whose values by hand would otherwise be possible for these slots."""
        return {
            holder
            for number in numbers
            for group in self.groups[number]
            for value, holder in self.held[group].items()
            if value in self.domain(number)
        }

    def _hold(self, number: int, want: ValueSlot, value: Value) -> None:
        if not all(value in one.domain for one in want.within):
            raise ValueConflict((number,))
        for group in self.groups[number]:
            other = self.held[group].setdefault(value, number)
            if other != number:
                raise ValueConflict((other, number))


# The connected components of slots: those that share a group, and have overlapping domains.


class ValueComponent(Struct, frozen=True):
    """Slots in order, the values that each may get (in order of preference), and groups that must differ.

    A best solution uses the first values (`open`), as many as there are slots, and previous values (`keeps`),
    which are in `extra`, too, if they come after those. Many slots share one list.
    """

    slots: Sequence[int]
    open: Sequence[Sequence[Value]]
    extra: Sequence[Value | None]
    keeps: Sequence[Value | None]
    groups: Sequence[Sequence[int]]

    def values(self, place: int) -> Iterator[Value]:
        """Yield all possible values of a slot."""
        yield from self.open[place]
        last = self.extra[place]
        if last is not None:
            yield last

    @property
    def together(self) -> bool:
        """Return whether one group has all slots."""
        return any(len(group) == len(self.slots) for group in self.groups)


class ValueComponents:
    """Finds connected slots."""

    def __init__(self, wanting: NumberedSlots) -> None:
        self._wanting = wanting
        self._free = [bool(want.within) and not want.by_hand for want in wanting.wants]
        self._meet: dict[tuple[tuple[int, ...], tuple[int, ...]], bool] = {}
        self._sorted: list[dict[tuple[int, ...], list[int]]] = []
        for members in wanting.members:
            by_kind = defaultdict[tuple[int, ...], list[int]](list)
            for number in members:
                if self._free[number]:
                    by_kind[wanting.kinds[number]].append(number)
            self._sorted.append(by_kind)

    def of(self, starts: Collection[int]) -> Iterator[ValueComponent]:
        """Yield the components of these slots."""
        seen: set[int] = set()
        for start in sorted(starts):
            if start not in seen:
                found = self._connected(start)
                seen |= found
                yield self._kin(sorted(found))

    def _connected(self, start: int) -> set[int]:
        found, waiting = {start}, [start]
        asked: set[tuple[int, tuple[int, ...]]] = set()
        while waiting:
            number = waiting.pop()
            kind = self._wanting.kinds[number]
            for group in self._wanting.groups[number]:
                if (group, kind) not in asked:
                    asked.add((group, kind))
                    for others in self._sorted[group].values():
                        if self._overlap(number, others[0]):
                            new = set(others) - found
                            found |= new
                            waiting += sorted(new)
        return found

    def _overlap(self, one: int, other: int) -> bool:
        """Return whether two slots' domains overlap."""
        kinds = self._wanting.kinds
        key = min((kinds[one], kinds[other]), (kinds[other], kinds[one]))
        if key not in self._meet:
            self._meet[key] = (self._wanting.domain(one) & self._wanting.domain(other)).size > 0
        return self._meet[key]

    def _kin(self, slots: Sequence[int]) -> ValueComponent:
        places = {number: place for place, number in enumerate(slots)}
        names = sorted({group for number in slots for group in self._wanting.groups[number]})
        groups = [[places[n] for n in self._wanting.members[group] if n in places] for group in names]
        keeps = [self._wanting.keeps(number) for number in slots]
        known: dict[object, Sequence[Value]] = {}
        open = []
        for number in slots:
            key = self._wanting.kinds[number], self._wanting.groups[number]
            if key not in known:
                known[key] = self._wanting.first(number, len(slots))
            open.append(known[key])
        sets = {id(values): frozenset(values) for values in known.values()}
        extra = [
            kept if kept not in sets[id(values)] else None for kept, values in zip(keeps, open, strict=True)
        ]
        return ValueComponent(slots, open, extra, keeps, [group for group in groups if len(group) > 1])
