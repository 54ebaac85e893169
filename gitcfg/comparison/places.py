"""Which steps are behind a parameter's change."""

from collections.abc import Iterable

import msgspec

from gitcfg.comparison.comparison import Comparison
from gitcfg.compile.trail import TrailStep


class Steps(msgspec.Struct, frozen=True):
    """The acting steps that went and those that came, each once, on all nodes of a change.

    Where none did, because a default or a fact changed, the steps that decide the value.
    """

    old: tuple[TrailStep, ...]
    new: tuple[TrailStep, ...]


def steps(comparison: Comparison, samples: Iterable[str], param: str) -> Steps:
    """What led to the values of a change before it, and what leads to them after it.

    `samples` are those of the change's nodes, one for all that are alike.
    """
    gone: dict[object, TrailStep] = {}
    come: dict[object, TrailStep] = {}
    for name in samples:
        before, after = map(_acting, comparison.trails(name, param))
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
