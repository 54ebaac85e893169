"""Nodes in a line: their number, and the set as far as it is short enough to be read."""

import re
from collections.abc import Collection, Iterable, Mapping

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.convert.reference.content import Code, Line, Link, Text
from gitcfg.explain.trail import Definition, given, labelled, listed
from gitcfg.model import Binding, Feature, Model, Node, Override
from gitcfg.model.nodeset import fold
from gitcfg.model.rules import RuleKind
from gitcfg.model.text import counted

_LONGEST = 600
"""Characters of a set that somebody may still read."""

_RUNS = 100
_NUMBER = re.compile(r"(\d+)")


class NodeFolder:
    """Tells nodes of one fleet.

    Folding all holders of 300 features on 10,000 nodes took 2.1 s and gave 3.3 MB, nearly all of it sets that
    are too long to be read. A set has at least as many ranges as there are runs in the order of names by
    number, so that most need not be folded to know that.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._ranks = {name: rank for rank, name in enumerate(sorted(names, key=_number_order))}
        self._told: dict[frozenset[str], Line] = {}

    def count(self, names: Collection[str]) -> Line:
        """How many nodes they are."""
        return (Text(str(len(names))),)

    def line(self, names: Collection[str]) -> Line:
        """How many nodes they are, and which."""
        key = frozenset(names)
        if key not in self._told:
            self._told[key] = self._line(key)
        return self._told[key]

    def _line(self, names: frozenset[str]) -> Line:
        number = counted(len(names), "node") if names else "no node"
        if names and len(names) == len(self._ranks) > 1:
            number = f"all {number}"
        folded = fold(sorted(names)) if self._runs(names) <= _RUNS else ""
        return (Text(f"{number}: "), Code(folded)) if 0 < len(folded) <= _LONGEST else (Text(number),)

    def _runs(self, names: frozenset[str]) -> int:
        ranks = {self._ranks.get(name, -1) for name in names}
        return sum(rank - 1 not in ranks for rank in ranks)


def _number_order(name: str) -> tuple[tuple[str, ...], tuple[int, ...], str]:
    """Names of a shape together, in the order of their numbers."""
    parts = _NUMBER.split(name)
    return tuple(parts[::2]), tuple(map(int, parts[1::2])), name


# What definitions say of each other, found in one walk over the layers.

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


# Who uses what: all that has to be known of a fleet before any entry can be written.


class Usage(msgspec.Struct, frozen=True):
    """What entries are made from.

    `names` are the entries by kind. `holders` are the nodes by feature, `members` those by group; `families`
    are the parameters that are bound of each family.
    """

    fleet: Fleet
    names: Mapping[str, frozenset[str]]
    mentions: Mentions
    holders: Mapping[str, list[str]]
    members: Mapping[str, list[str]]
    families: Mapping[str, list[str]]
    nodes: NodeFolder

    def link(self, kind: str, name: str, text: str = "") -> Line:
        """A definition by name: a link if it is there."""
        if name in self.names[kind]:
            return (Link(kind, name, text if text != name else ""),)
        return (Code(text or name), Text(" (missing)"))

    def parameter(self, name: str) -> Line:
        """A parameter as a binding calls it: a link to what declares it."""
        found = entry_name(self.fleet, name)
        return (Link("parameter", found, name if name != found else ""),) if found else (Code(name),)

    def mentioned_by(self, what: str, name: str) -> tuple[Line, ...]:
        """The definitions that say something of another."""
        return tuple((link,) for link in dict.fromkeys(self.mentions.by_definitions.get((what, name), ())))

    def listed(self, what: str, name: str) -> tuple[Line, ...]:
        """The layers that list something for themselves, their nodes folded."""
        names = self.mentions.by_nodes.get((what, name), ())
        return (*self.mentioned_by(what, name), *((self.nodes.line(names),) if names else ()))


def find_usage(fleet: Fleet) -> Usage:
    """What is to be known of a fleet."""
    known, families = _find_parameters(fleet)
    holders, members = _find_nodes(fleet)
    names = _find_names(fleet.model, known)
    return Usage(fleet, names, find_mentions(fleet), holders, members, families, NodeFolder(fleet.names))


def _find_parameters(fleet: Fleet) -> tuple[frozenset[str], Mapping[str, list[str]]]:
    """The parameters that have entries, and those that are bound of each family."""
    families: dict[str, list[str]] = {}
    known = set(fleet.model.parameters)
    spoken = {name for name, _ in fleet.bindings}
    for name in sorted(fleet.bound | spoken):  # by layers: composing 10,000 classes takes a second
        found = entry_name(fleet, name)
        known |= {found} if found else set()
        if found and found != name and "${" not in name:
            families.setdefault(found, []).append(name)
    return frozenset(known), families


def _find_nodes(fleet: Fleet) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The nodes that have each feature, and those in each group."""
    holders: dict[str, list[str]] = {}
    members: dict[str, list[str]] = {fleet.model.settings.default_group: list(fleet.names)}
    for kind in fleet.classes:
        for name in kind.features:
            holders.setdefault(name, []).extend(kind.names)
        for name in kind.groups:
            if name != fleet.model.settings.default_group:
                members.setdefault(name, []).extend(kind.names)
    return holders, members


def _find_names(model: Model, parameters: frozenset[str]) -> Mapping[str, frozenset[str]]:
    return {
        "feature": frozenset(model.features),
        "parameter": parameters,
        "subsystem": frozenset(model.subsystems),
        "group": frozenset((*model.groups, model.settings.default_group)),
        "nodeset": frozenset(model.nodesets),
        "override": frozenset(model.overrides),
        "rule": frozenset(model.rules),
    }
