"""A parameter's trail on a node: the ordered steps that led to its value."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.operations import LACKING, NOTHING, Step, apply, find_collected, is_reset
from gitcfg.model import Decision, Op, Origin


class TrailStep(msgspec.Struct, frozen=True):
    """One step: its operation and operand, the value after it, and where it comes from.

    `path` is innermost first: `feature X`, ..., then `group Y`, `node N`, `node set S`, `rule R` or
    `override O`. `bound` is False after a step that leaves the parameter not bound at all.
    `overridden`: a later reset shadows it, or it is a `$default` that did not apply. `nodes` are those
    from which it collected. `decided` is what was decided for rules so that it is there and says this.
    """

    op: Op
    given: Any
    result: Any
    origin: Origin
    path: tuple[str, ...]
    overridden: bool
    bound: bool
    nodes: tuple[str, ...] = ()
    decided: tuple[Decision, ...] = ()


def make_trail(
    steps: Iterable[tuple[Step, tuple[str, ...]]], facts: Mapping[str, Any]
) -> tuple[TrailStep, ...]:
    """Return placed steps, lowest first, with the results that they lead to."""
    placed = list(steps)
    last = max((index for index, (step, _) in enumerate(placed) if is_reset(step)), default=0)
    return tuple(_told(placed, last, facts))


def _told(
    placed: list[tuple[Step, tuple[str, ...]]], last: int, facts: Mapping[str, Any]
) -> Iterator[TrailStep]:
    below: Any = NOTHING
    for index, (step, path) in enumerate(placed):
        idle = step.op is Op.DEFAULT and below is not NOTHING and below is not None
        below = apply(step, below, facts)
        yield TrailStep(
            step.op,
            step.written,
            None if below in (NOTHING, LACKING) else below,
            step.origin,
            path,
            overridden=index < last or idle,
            bound=below is not NOTHING,
            nodes=find_collected(step, facts).nodes if step.op is Op.COLLECT else (),
            decided=step.decided,
        )
