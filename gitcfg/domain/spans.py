"""Values that are held as intervals of their numbers."""

from collections.abc import Container, Iterator

import msgspec

from gitcfg.domain import intervals, networks
from gitcfg.domain.codecs import CODECS
from gitcfg.domain.intervals import Intervals
from gitcfg.domain.kinds import Kind, Value
from gitcfg.domain.problem import DomainProblem
from gitcfg.domain.taken import Taken
from gitcfg.domain.values import Values


class Spans(msgspec.Struct, frozen=True, gc=False):
    """Numbers, addresses, networks or dates; see `Values`."""

    kind: Kind
    ranges: Intervals = ()

    @property
    def size(self) -> int:
        return intervals.size(self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, value: object) -> bool:
        try:
            return intervals.holds(self.ranges, CODECS[self.kind].number(value))
        except DomainProblem:
            return False

    def __iter__(self) -> Iterator[Value]:
        value = CODECS[self.kind].value
        return (value(number) for first, last in self.ranges for number in range(first, last + 1))

    def nth(self, place: int) -> Value:
        return CODECS[self.kind].value(intervals.nth(self.ranges, place))

    def first_free(self, taken: Container[Value]) -> Value | None:
        if not isinstance(taken, Taken):
            return next((value for value in self if value not in taken), None)
        if taken.kind is not self.kind:
            return next(iter(self), None)
        number = taken.first_free(self.ranges)
        return None if number is None else CODECS[self.kind].value(number)

    def normal(self, value: object) -> Value:
        codec = CODECS[self.kind]
        return codec.value(codec.number(value))

    def items(self) -> tuple[Value, ...]:
        written = CODECS[self.kind].written
        return tuple(item for first, last in self.ranges for item in written(first, last))

    def describe(self) -> str:
        return ", ".join(map(str, self.items())) or "nothing"

    def __and__(self, other: Values) -> Values:
        return Spans(self.kind, intervals.intersection(self.ranges, self._alike(other)))

    def __sub__(self, other: Values) -> Values:
        return Spans(self.kind, intervals.difference(self.ranges, self._alike(other)))

    def _alike(self, other: Values) -> Intervals:
        return other.ranges if isinstance(other, Spans) and other.kind is self.kind else ()

    def __or__(self, other: Values) -> Values:
        if not self or not other:
            return self if self else other
        if other.kind is not self.kind:
            raise DomainProblem(f"{self.kind.one} and {other.kind.one} are not of one kind")
        found = intervals.union(self.ranges, self._alike(other))
        if self.kind is Kind.NETWORK and not networks.one_size(networks.sizes(found)):
            raise DomainProblem("networks of two lengths overlap")
        return Spans(self.kind, found)
