"""Text values, in the order in which they are listed."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice

import msgspec

from gitcfg.domain.kinds import Kind, Value
from gitcfg.domain.problem import DomainProblem
from gitcfg.domain.shapes import is_plain
from gitcfg.domain.values import Values
from gitcfg.model.names import shown

_MISLEADING = frozenset(",\"'\\")


class Words(msgspec.Struct, frozen=True):
    """Text; see `Values`. `places` has each word's place."""

    places: Mapping[str, int] = {}

    def __hash__(self) -> int:
        return hash(tuple(self.places))

    @property
    def kind(self) -> Kind:
        return Kind.TEXT

    @property
    def size(self) -> int:
        return len(self.places)

    def __bool__(self) -> bool:
        return bool(self.places)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value in self.places

    def __iter__(self) -> Iterator[Value]:
        return iter(self.places)

    def nth(self, place: int) -> Value:
        found = next(islice(self.places, place, None), None) if place >= 0 else None
        if found is None:
            raise IndexError(place)
        return found

    def first_free(self, taken: Container[Value]) -> Value | None:
        return next((word for word in self.places if word not in taken), None)

    def normal(self, value: object) -> Value:
        if not isinstance(value, str):
            raise DomainProblem(f"{shown(str(value))} is no text", hint="put it in quotes")
        return value

    def items(self) -> tuple[Value, ...]:
        return tuple(word if is_plain(word) else f"={word}" for word in self.places)

    def describe(self) -> str:
        return ", ".join(_quoted(str(item)) for item in self.items()) or "nothing"

    def __and__(self, other: Values) -> Values:
        return words(word for word in self.places if isinstance(other, Words) and word in other)

    def __sub__(self, other: Values) -> Values:
        return words(word for word in self.places if not (isinstance(other, Words) and word in other))

    def __or__(self, other: Values) -> Values:
        if not self or not other:
            return self if self else other
        if not isinstance(other, Words):
            raise DomainProblem(f"{self.kind.one} and {other.kind.one} are not of one kind")
        return words([*self.places, *other.places])


def words(found: Iterable[str]) -> Words:
    """Each word once, in the order given."""
    return Words({word: place for place, word in enumerate(dict.fromkeys(found))})


def _quoted(item: str) -> str:
    """An item that nobody can take for two, or for none."""
    clear = item.isprintable() and item.strip() == item != "" and _MISLEADING.isdisjoint(item)
    return item if clear else json.dumps(item)
