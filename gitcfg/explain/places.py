"""The places at which a feature stands on a node, each with the lists' entries that put it there."""

from collections.abc import Iterable, Iterator

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.layers import Layers
from gitcfg.model import Decision, Origin, Use


class Place(msgspec.Struct, frozen=True):
    """One place: the layers around the feature, innermost first, and where each of them lists the next.

    `layers` are `feature Y` that includes it, ..., then `group G`, `node set S`, `node N`, `rule R` or
    `override O`; `origins` are as many. `instances` are what it is installed as there. `decided`: the place
    is one that was decided for the rule.
    """

    layers: tuple[str, ...]
    origins: tuple[Origin, ...]
    instances: tuple[str, ...] = ()
    decided: Decision | None = None


def places(fleet: Fleet, kind: NodeClass, feature: str) -> tuple[Place, ...]:
    """Where a feature stands on the nodes of a class, lowest first."""
    found: dict[tuple[tuple[str, ...], tuple[Origin, ...]], dict[str, None]] = {}
    layers = fleet.stacks.filled(kind.brought)
    for path in dict.fromkeys(kind.stack.standing(feature)):
        for chain in _chains(layers, _listed(fleet, kind, path[-1]), path[-2::-1]):
            origins = tuple(use.origin for use in reversed(chain))
            instances = found.setdefault((path[1:], origins), {})
            if chain[-1].instance is not None:
                instances[chain[-1].instance] = None
    decided = {each.origin: each for installed in kind.brought.installs for each in installed.decided}
    return tuple(
        Place(labels, origins, tuple(names), decided.get(origins[-1]))
        for (labels, origins), names in found.items()
    )


def _listed(fleet: Fleet, kind: NodeClass, label: str) -> Iterable[Use]:
    """The features that the outermost layer of a path lists."""
    word, _, name = label.partition(" ")
    if word == "group":
        return fleet.model.groups[name].features
    if word == "override":
        return fleet.model.overrides[name].features
    if word == "rule":
        return [
            use for installed in kind.brought.installs if installed.rule == name for use in installed.uses
        ]
    return [use for use, layer in kind.said.features if layer == label]


def _chains(layers: Layers, uses: Iterable[Use], path: tuple[str, ...]) -> Iterator[tuple[Use, ...]]:
    """The entries that lead along a path of features, outermost first, one chain for each instance."""
    name = path[0].removeprefix("feature ")
    for use in uses:
        if use.feature != name:
            continue
        if len(path) == 1:
            yield (use,)
            continue
        for chain in _chains(layers, layers.as_used(use).include, path[1:]):
            yield (use, *chain)
