"""Which steps are behind a parameter's change."""

from collections.abc import Iterable

import msgspec

from gitcfg.comparison.change import Change
from gitcfg.comparison.comparison import Comparison
from gitcfg.compile.trail import TrailStep


class Steps(msgspec.Struct, frozen=True):
    """The acting steps that went and those that came, each once, on all nodes of a change.

    Where none did, because a default or a fact changed, the steps that decide the value.
    """

    old: tuple[TrailStep, ...]
    new: tuple[TrailStep, ...]


def steps(comparison: Comparison, change: Change, param: str) -> Steps:
    """What led to the value before a change, and what leads to the other one after it."""
    gone: dict[object, TrailStep] = {}
    come: dict[object, TrailStep] = {}
    for together in comparison.alike(change.nodes):
        before, after = map(_acting, comparison.trails(next(iter(together)), param))
        same = before.keys() == after.keys()
        gone.update(_topmost(before) if same else _without(before, after))
        come.update(_topmost(after) if same else _without(after, before))
    return Steps(tuple(gone.values()), tuple(come.values()))


Acting = dict[object, TrailStep]


def _acting(trail: Iterable[TrailStep]) -> Acting:
    """Acting steps by what they say and where they stand, lines aside."""
    return {
        (step.op, msgspec.json.encode(step.given, order="sorted"), step.path): step
        for step in trail
        if not step.overridden
    }


def _topmost(steps: Acting) -> Acting:
    return dict([*steps.items()][-1:])


def _without(steps: Acting, others: Acting) -> Acting:
    return {key: step for key, step in steps.items() if key not in others}
