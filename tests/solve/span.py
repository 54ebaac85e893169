"""The simplest domain: whole numbers from one to another."""

from collections.abc import Iterator

from msgspec import Struct


class Span(Struct, frozen=True):
    """Both ends belong to it."""

    first: int
    last: int

    @property
    def size(self) -> int:
        """How many there are."""
        return max(self.last - self.first + 1, 0)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.first <= value <= self.last

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    def __and__(self, other: "Span") -> "Span":
        return Span(max(self.first, other.first), min(self.last, other.last))
