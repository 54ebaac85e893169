"""Values for slots that must all differ: bipartite matching by augmenting paths, to the first answer."""

from collections.abc import Iterator, Mapping, Sequence

from gitcfg.solve.problem import Kin, Value


class Matching:
    """A value for each slot, which no other has, of those open to it; `locked` ones are given already.

    `short`: where there is no answer, slots that have fewer values open to them than they are (Hall).
    """

    def __init__(self, kin: Kin, locked: Mapping[int, Value]) -> None:
        self._kin = kin
        self._locked = set(locked.values())
        self.values: dict[int, Value] = dict(locked)
        self._owner = {value: slot for slot, value in locked.items()}
        self._later = [slot for slot in range(len(kin.slots)) if slot not in locked]
        self._seek()
        self.short = self._augment([slot for slot in self._later if not self._first(slot)])

    def settle(self) -> None:
        """Give each slot in turn the first value that leaves one for everybody after it."""
        begins: dict[int, int] = {}
        for slot in self._later:
            self._seek()
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

    def _seek(self) -> None:
        """Begin a search: no value is known to lead nowhere, and no list has been gone through."""
        self._dead: set[Value] = set()
        self._cursors: dict[int, Iterator[Value]] = {}

    def _first(self, slot: int) -> bool:
        """Take the first value that is free: most slots find one without a path."""
        for value in self._cursor(slot):
            if value not in self._owner:
                self._shift((slot,), (value,))
                return True
        return False

    def _augment(self, slots: Sequence[int]) -> frozenset[int] | None:
        for slot in slots:
            self._seek()
            if not self._find(slot):
                return frozenset((slot, *(self._owner[value] for value in self._dead)))
        return None

    def _swap(self, slot: int, value: Value) -> bool:
        """Take a value. Whoever has it finds another one, be it what this slot had."""
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
        """Find a value for a slot by a path of others that move on."""
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
        """The next value that a search has not tried; slots with the same list go through it together."""
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
