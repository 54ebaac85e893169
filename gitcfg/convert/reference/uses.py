"""Who uses what: all that has to be known of a fleet before any entry can be written."""

from collections.abc import Mapping

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.convert.reference.content import Code, Line, Link, Text
from gitcfg.convert.reference.folding import NodeFolder
from gitcfg.convert.reference.mentions import Mentions, entry_name, find_mentions
from gitcfg.model import Model


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
