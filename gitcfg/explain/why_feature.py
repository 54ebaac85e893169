"""Why a node has a feature, or has not."""

from collections.abc import Iterable, Iterator

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.explain.layers import Mention, labelled, listed, said_by
from gitcfg.explain.places import Place, places
from gitcfg.explain.why_rule import Passing, passing
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown


class Removal(msgspec.Struct, frozen=True):
    """A `without`: the feature that it takes away, and who says so."""

    feature: str
    by: Mention


class Taken(msgspec.Struct, frozen=True):
    """A layer that a node would have, and what takes it, or one that includes it, away."""

    place: Place
    removals: tuple[Removal, ...]


class FeatureAnswer(msgspec.Struct, frozen=True):
    """`places` are those at which the node has it, `taken` those that `without` takes away.

    `barred`: it is included, but by includes that do not count, as they close circles or lead too deep.
    `elsewhere` are the layers that would install it on nodes, where this one has nothing to do with it, and
    `rules` those that would and pass it by.
    """

    name: str
    places: tuple[Place, ...]
    taken: tuple[Taken, ...]
    retired: bool
    barred: bool
    elsewhere: tuple[str, ...]
    rules: tuple[Passing, ...] = ()

    @property
    def has(self) -> bool:
        """Does the node have the feature?"""
        return bool(self.places)

    @property
    def instances(self) -> tuple[str, ...]:
        """What it is installed as, wherever."""
        return tuple(dict.fromkeys(name for place in self.places for name in place.instances))


def why_feature(fleet: Fleet, node: FleetNode, name: str) -> FeatureAnswer:
    """Where a feature stands on a node. GitcfgError: there is no such feature."""
    if name not in fleet.model.features:
        raise GitcfgError(f"There is no feature {shown(name)}.", did_you_mean(name, fleet.model.features))
    found = places(fleet, node.kind, name)
    taken: tuple[Taken, ...] = ()
    if not node.said.retired and node.kind.without:
        taken = tuple(_taken(node, places(fleet, unrestricted(fleet, node.kind), name), name))
    wanted = name in fleet.stacks.unfiltered(node.kind)
    stranger = not (wanted or node.said.retired)
    return FeatureAnswer(
        name,
        found,
        taken,
        node.said.retired,
        barred=wanted and not (found or taken or node.said.retired),
        elsewhere=tuple(_elsewhere(fleet, name)) if stranger else (),
        rules=passing(fleet, node.name, name) if stranger else (),
    )


def unrestricted(fleet: Fleet, kind: NodeClass) -> NodeClass:
    """What the nodes of a class would be if no `without` took anything away."""
    said = msgspec.structs.replace(kind.said, without=())
    overrides = tuple(msgspec.structs.replace(override, without=()) for override in kind.overrides)
    return fleet.stacks.compile(said, overrides, kind.brought)


def removals(node: FleetNode, path: Iterable[str]) -> tuple[Removal, ...]:
    """What takes away a layer with this path: it, or what includes it."""
    layers = set(path)
    refs = [ref for ref in node.kind.without if f"feature {ref.name}" in layers]
    return tuple(Removal(ref.name, said_by(node, ref.origin)) for ref in refs)


def _taken(node: FleetNode, would_be: Iterable[Place], name: str) -> Iterator[Taken]:
    for place in would_be:
        found = removals(node, (f"feature {name}", *place.layers))
        if found:
            yield Taken(place, found)


def _elsewhere(fleet: Fleet, name: str) -> Iterator[str]:
    """Who installs it; features only include, and rules tell more (`passing`)."""
    for label, definition in labelled(fleet.model):
        uses = listed(definition)
        if not label.startswith(("feature ", "rule ")) and name in fleet.layers.expanded(
            use.feature for use in uses
        ):
            yield label
