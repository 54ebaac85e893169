"""The connected components of slots: those that share a group, and domains with something in common."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from gitcfg.solve.giving import Value
from gitcfg.solve.wanting import Wanting


class Kin(Struct, frozen=True):
    """Slots in order, the values that each may get (in order of preference), and groups that must differ.

    A best answer is among the first values (`open`), as many as there are slots, and what a slot had
    (`keeps`), which stands in `extra`, too, where it comes after those. Many slots share one list.
    """

    slots: Sequence[int]
    open: Sequence[Sequence[Value]]
    extra: Sequence[Value | None]
    keeps: Sequence[Value | None]
    groups: Sequence[Sequence[int]]

    def values(self, place: int) -> Iterator[Value]:
        """All that are open to a slot."""
        yield from self.open[place]
        last = self.extra[place]
        if last is not None:
            yield last

    @property
    def together(self) -> bool:
        """Is there a group that all slots are in?"""
        return any(len(group) == len(self.slots) for group in self.groups)


class Kinship:
    """Finds the kin of slots."""

    def __init__(self, wanting: Wanting) -> None:
        self._wanting = wanting
        self._free = [bool(want.within) and not want.by_hand for want in wanting.wants]
        self._meet: dict[tuple[tuple[int, ...], tuple[int, ...]], bool] = {}
        self._sorted = [self._by_kind(members) for members in wanting.members]

    def of(self, starts: Collection[int]) -> Iterator[Kin]:
        """The components that these slots belong to."""
        seen: set[int] = set()
        for start in sorted(starts):
            if start not in seen:
                found = self._connected(start)
                seen |= found
                yield self._kin(sorted(found))

    def _by_kind(self, members: Sequence[int]) -> dict[tuple[int, ...], list[int]]:
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for number in members:
            if self._free[number]:
                found[self._wanting.kinds[number]].append(number)
        return found

    def _connected(self, start: int) -> set[int]:
        found, waiting = {start}, [start]
        asked: set[tuple[int, tuple[int, ...]]] = set()
        while waiting:
            number = waiting.pop()
            kind = self._wanting.kinds[number]
            for group in self._wanting.groups[number]:
                if (group, kind) not in asked:
                    asked.add((group, kind))
                    new = set(self._near(number, group)) - found
                    found |= new
                    waiting += sorted(new)
        return found

    def _near(self, number: int, group: int) -> Iterator[int]:
        for others in self._sorted[group].values():
            if self._touch(number, others[0]):
                yield from others

    def _touch(self, one: int, other: int) -> bool:
        """Have their domains something in common?"""
        kinds = self._wanting.kinds
        key = min((kinds[one], kinds[other]), (kinds[other], kinds[one]))
        if key not in self._meet:
            self._meet[key] = (self._wanting.domain(one) & self._wanting.domain(other)).size > 0
        return self._meet[key]

    def _kin(self, slots: Sequence[int]) -> Kin:
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
        return Kin(slots, open, extra, keeps, [group for group in groups if len(group) > 1])
