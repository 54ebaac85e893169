"""What is to be placed where, and what must hold: plain data that knows neither nodes nor rules."""

from collections.abc import Collection, Sequence

from msgspec import Struct

Spot = tuple[str, str]
"""A thing at a slot."""


class Bound(Struct, frozen=True, gc=False):
    """At least and at most so many of the members are placed; most None: as many as there are."""

    cause: str
    least: int
    most: int | None
    members: Sequence[Spot]


class Fixed(Struct, frozen=True, gc=False):
    """By hand: placed, or not to be placed."""

    cause: str
    spot: Spot
    placed: bool


class Implies(Struct, frozen=True, gc=False):
    """Where `spot` is placed, `needs` is."""

    cause: str
    spot: Spot
    needs: Spot


class Excludes(Struct, frozen=True, gc=False):
    """Not both are placed."""

    cause: str
    one: Spot
    other: Spot


class Placing(Struct, frozen=True):
    """A problem of placement: things and slots in the order that decides between answers equally good.

    A spot that no bound, fixing, implication or exclusion names is not placed. `stood` is what was placed;
    what nothing asks for any more (no bound that needs members has it, nothing needs it) does not count.
    """

    things: Sequence[str]
    slots: Sequence[str]
    bounds: Sequence[Bound] = ()
    fixed: Sequence[Fixed] = ()
    implied: Sequence[Implies] = ()
    excluded: Sequence[Excludes] = ()
    stood: Collection[Spot] = ()
