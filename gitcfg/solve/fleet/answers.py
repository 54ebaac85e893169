"""What comes of deciding for a fleet: allocations, or demands that cannot hold together, or neither."""

from collections.abc import Mapping

import msgspec

from gitcfg.model.rules import Allocation
from gitcfg.solve.fleet.causes import Cause


class Solved(msgspec.Struct, frozen=True):
    """What is decided, by rule; of a rule that decides nothing there is none.

    `aside` are rules that are wrong themselves: nobody knows what they ask, and what stands for them stays.
    """

    allocations: Mapping[str, Allocation]
    aside: tuple[str, ...] = ()


class Unsolved(msgspec.Struct, frozen=True):
    """These cannot hold together, and could if any single one were left out.

    `nodes` are those concerned. Leaving `suggestion` out would let everything be decided.
    """

    causes: tuple[Cause, ...]
    nodes: tuple[str, ...]
    suggestion: Cause | None


class Failing(Exception):
    """An expression of a rule failed, or its domain means nothing: it is not known what to decide."""

    def __init__(self, cause: Cause, problem: str, nodes: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.cause = cause
        self.nodes = nodes
