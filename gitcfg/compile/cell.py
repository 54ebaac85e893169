"""A cell: what layers say together of one parameter."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.operations import NOTHING, Step, apply, fold, resets
from gitcfg.model import Op, Origin

MAX_WEIGHT = 4_000_000


class Cell(msgspec.Struct, frozen=True):
    """What a partial says of one parameter.

    `steps` are those that act, lowest first: since the last one that resets. `closed`: the first
    of them does, so nothing below matters. `value` is their result on nothing.
    """

    steps: tuple[Step, ...]
    closed: bool
    value: Any
    weight: int

    @property
    def origins(self) -> list[Origin]:
        """Where the acting steps stand, the topmost first: there one would change the value."""
        return [step.origin for step in reversed(self.steps)]

    def counting(self, facts: Mapping[str, Any] | None = None) -> Iterator[Step]:
        """The steps that count: all but a `$default` that finds a value. `facts` are the nodes'."""
        if len(self.steps) == 1:  # nearly all: it finds nothing
            yield from self.steps
            return
        below: Any = NOTHING
        for step in self.steps:
            idle = step.op is Op.DEFAULT and below is not NOTHING and below is not None
            below = apply(step, below, facts)
            if not idle:
                yield step


def cell(step: Step) -> Cell:
    """One step as a cell."""
    return Cell((step,), resets(step), fold((step,), NOTHING), step.weight)


def join(below: Cell, above: Cell) -> Cell:
    """What two cells say together. Associative; beyond MAX_WEIGHT nothing more is added."""
    if above.closed:
        return above
    weight = below.weight + above.weight
    if weight > MAX_WEIGHT:
        return Cell(below.steps, below.closed, below.value, MAX_WEIGHT + 1)
    return Cell(below.steps + above.steps, below.closed, fold(above.steps, below.value), weight)
