"""Which slots need a value, of what, and which of them must differ: plain data."""

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol, Self

from msgspec import Struct

Value = int | str
"""In its normal form: equal values are equal here."""


class Domain(Protocol):
    """A set of values, in order from the least; it may be far too large to go through."""

    @property
    def size(self) -> int:
        """How many there are."""

    def __contains__(self, value: object, /) -> bool:
        """Is this one of them?"""

    def __iter__(self) -> Iterator[Value]:
        """All of them, as they are asked for."""

    def __and__(self, other: Self, /) -> Self:
        """Those that are in both."""


class Within(Struct, frozen=True, gc=False):
    """The value is one of these."""

    cause: str
    domain: Domain


class ByHand(Struct, frozen=True, gc=False):
    """The value is this one."""

    cause: str
    value: Value


class Want(Struct, frozen=True, gc=False):
    """A slot that needs a value within all of these, or has one by hand. `stood`: the value it had."""

    slot: str
    within: Sequence[Within] = ()
    stood: Value | None = None
    by_hand: ByHand | None = None


class Apart(Struct, frozen=True, gc=False):
    """The values of these slots differ, each from each other."""

    cause: str
    slots: Sequence[str]


class Giving(Struct, frozen=True):
    """A problem of values: slots in the order that decides between answers equally good.

    A slot that `apart` names and that wants nothing differs from nobody.
    """

    wants: Sequence[Want]
    apart: Sequence[Apart] = ()

    def causes(self) -> tuple[str, ...]:
        """All of them; rules first."""
        found = [one.cause for want in self.wants for one in want.within]
        found += [one.cause for one in self.apart]
        found += [want.by_hand.cause for want in self.wants if want.by_hand]
        return tuple(dict.fromkeys(found))

    def only(self, causes: Collection[str]) -> "Giving":
        """What has one of these causes; nothing stood."""
        wants = []
        for want in self.wants:
            within = [one for one in want.within if one.cause in causes]
            by_hand = want.by_hand if want.by_hand and want.by_hand.cause in causes else None
            if within or by_hand:
                wants.append(Want(want.slot, within, None, by_hand))
        return Giving(wants, [one for one in self.apart if one.cause in causes])

    def some(self, slots: Collection[str]) -> "Giving":
        """These slots alone."""
        return Giving([want for want in self.wants if want.slot in slots], self.apart)
