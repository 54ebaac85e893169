"""Who puts a node into a group, at which place among its groups, or why nobody does."""

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.explain.layers import Mention
from gitcfg.model import GitcfgError, Node, Op, Ref
from gitcfg.model.names import did_you_mean, shown


class GroupAnswer(msgspec.Struct, frozen=True):
    """`groups` are all of the node's, highest first, the default group last.

    `by` says who lists the group. Where the node's own list drops what its set lists, `listed` is
    the set's entry, and `dropped` the node's, or its whole list if that replaces the set's (`replaced`).
    """

    name: str
    groups: tuple[str, ...]
    default: bool
    by: Mention | None
    listed: Mention | None
    dropped: Mention | None
    replaced: bool
    retired: bool

    @property
    def has(self) -> bool:
        """Is the node in the group?"""
        return self.name in self.groups


def why_group(fleet: Fleet, node: FleetNode, name: str) -> GroupAnswer:
    """How a node comes into a group. GitcfgError: there is no such group."""
    default = fleet.model.settings.default_group
    if name not in fleet.model.groups and name != default:
        raise GitcfgError(f"There is no group {shown(name)}.", did_you_mean(name, fleet.model.groups))
    said = node.said
    found = next((ref for ref in said.groups if ref.name == name), None)
    of_set = (
        _mention(f"node set {said.nodeset.name}", said.nodeset.definition, name) if said.nodeset else None
    )
    return GroupAnswer(
        name,
        (*node.groups, default),
        name == default,
        _who(node, found),
        of_set if found is None else None,
        _dropped(said.own, name) if found is None and of_set is not None else None,
        said.own is not None and said.own.groups.op is Op.SET,
        said.retired,
    )


def _who(node: FleetNode, found: Ref | None) -> Mention | None:
    """Who lists it: a list's entry is the node's own or its set's."""
    if found is None:
        return None
    own, nodeset = node.said.own, node.said.nodeset
    if own is not None and found in own.groups.items:
        return Mention(f"node {own.name}", found.origin)
    return Mention(f"node set {nodeset.name}", found.origin) if nodeset is not None else None


def _mention(label: str, definition: Node, name: str) -> Mention | None:
    found = [ref for ref in definition.groups.items if ref.name == name]
    return Mention(label, found[0].origin) if found and definition.groups.op is not Op.REMOVE else None


def _dropped(own: Node | None, name: str) -> Mention | None:
    """The node's own list, or its entry under `$remove`."""
    if own is None or own.groups.origin is None:
        return None
    removed = [ref.origin for ref in own.groups.items if ref.name == name]
    return Mention(f"node {own.name}", removed[0] if removed else own.groups.origin)
