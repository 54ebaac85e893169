"""What definitions say of each other, found in one walk over the layers."""

from collections.abc import Iterable, Mapping

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.convert.reference.content import Link
from gitcfg.explain.trail import Definition, given, labelled, listed
from gitcfg.model import Binding, Feature, Model, Node, Override
from gitcfg.model.rules import RuleKind

_NODESET = "node set "


class Bound(msgspec.Struct, frozen=True):
    """A layer's binding of a parameter, under the name that stands there."""

    layer: Link
    name: str
    binding: Binding


class Mentions(msgspec.Struct, frozen=True):
    """Who says what of whom.

    `mentions` are by what is said and of whom: ("include", NAME) are the features that include it. `listing`
    are, alike, the nodes that say so for themselves. `bound` are the layers that bind a parameter, by name
    of its entry; `own` are the nodes that do so themselves.
    """

    by_definitions: Mapping[tuple[str, str], list[Link]]
    by_nodes: Mapping[tuple[str, str], list[str]]
    bindings: Mapping[str, list[Bound]]
    binding_nodes: Mapping[str, list[str]]


def find_mentions(fleet: Fleet) -> Mentions:
    """Everything that definitions of a fleet say of each other."""
    mentions: dict[tuple[str, str], list[Link]] = {}
    listing: dict[tuple[str, str], list[str]] = {}
    bound: dict[str, list[Bound]] = {}
    own: dict[str, list[str]] = {}
    for label, layer in labelled(fleet.model):
        link = _link_layer(label)
        for what, name in _layer_mentions(layer):
            if link is None:
                listing.setdefault((what, name), []).append(layer.name)
            else:
                mentions.setdefault((what, name), []).append(link)
        for name, binding in layer.params.items():
            found = entry_name(fleet, name)
            if found and link is None:
                own.setdefault(found, []).append(layer.name)
            elif found and link is not None:
                bound.setdefault(found, []).append(Bound(link, name, binding))
    _add_other_mentions(fleet.model, mentions)
    return Mentions(mentions, listing, bound, own)


def entry_name(fleet: Fleet, name: str) -> str:
    """The entry that a parameter belongs to: its declaration, a family's, or its own; "": nobody knows."""
    declared = fleet.declarations.find(name)
    if declared is not None:
        return declared.name
    return "" if "${" in name else name


def _link_layer(label: str) -> Link | None:
    """The definition of a layer; None for a node, which has no entry."""
    if label.startswith(_NODESET):
        return Link("nodeset", label.removeprefix(_NODESET))
    kind, _, name = label.partition(" ")
    return Link(kind, name) if kind != "node" else None


def _layer_mentions(layer: Definition) -> Iterable[tuple[str, str]]:
    """What a layer says of features and groups."""
    verb = "include" if isinstance(layer, Feature) else "install"
    yield from dict.fromkeys((verb, use.feature) for use in listed(layer))
    if isinstance(layer, Feature):
        yield from (("depend", ref.name) for ref in layer.depends)
        yield from (("conflict", ref.name) for ref in layer.conflicts)
        yield from (("after", ref.name) for ref in layer.after)
    elif isinstance(layer, Node):
        yield from (("join", ref.name) for ref in given(layer.groups))
        yield from (("without", ref.name) for ref in given(layer.without))
    elif isinstance(layer, Override):
        yield from (("without", ref.name) for ref in layer.without)


def _add_other_mentions(model: Model, mentions: dict[tuple[str, str], list[Link]]) -> None:
    """What parameters, rules and subsystems say of others by name."""
    for name, parameter in sorted(model.parameters.items()):
        for what, refs in (("need", parameter.depends), ("exclude", parameter.conflicts)):
            for ref in refs:
                mentions.setdefault((what, ref.name), []).append(Link("parameter", name))
    for rule in model.rules.values():
        link = Link("rule", rule.name)
        if rule.kind is RuleKind.LIMIT and rule.feature is not None:
            mentions.setdefault(("limit", rule.feature.name), []).append(link)
        for name in rule.domains if rule.over is None else ():
            mentions.setdefault(("confine", name), []).append(link)
    for name, subsystem in sorted(model.subsystems.items()):
        for ref in subsystem.features or ():
            mentions.setdefault(("run", ref.name), []).append(Link("subsystem", name))
