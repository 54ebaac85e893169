"""What each layer of a node decides in the end, counted from the trails."""

from collections import Counter
from collections.abc import Sequence

from gitcfg.compile.fleetnode import FleetNode
from gitcfg.picture.layers import Layer

Decided = Counter[tuple[int, str]]
"""Numbers by a layer's place in the stack and, inside it, the label of the feature or layer that says it."""


def params_decided(node: FleetNode, stack: Sequence[Layer]) -> Decided:
    """The parameters whose last acting step stands there."""
    decided = Decided()
    for param in node.params:
        steps = node.trail(param)
        last = max(index for index, step in enumerate(steps) if not step.overridden)
        found = ((place, part) for place, layer in enumerate(stack) for part in layer.parts)
        said = [(place, path[0]) for place, part in found for _, path in part.steps(param)]
        decided[said[last]] += 1
    return decided


def files_decided(node: FleetNode, stack: Sequence[Layer]) -> Decided:
    """The files whose topmost entry stands there."""
    decided = Decided()
    for path in node.entries:
        found = ((place, part) for place, layer in enumerate(stack) for part in layer.parts)
        said = [(place, where[0]) for place, part in found for _, where in part.entries(path)]
        decided[said[-1]] += 1
    return decided
