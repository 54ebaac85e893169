"""Which nodes mention which groups, features and secrets: found once for the nodes that a tree holds."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.nodes import Roster, Said
from gitcfg.load.collections import Shelf
from gitcfg.model import Binding, Node, Op

ANY = "${"
"""Instead of a name: whichever secret an instance makes of what is written."""


class Mentions(msgspec.Struct, frozen=True):
    """The nodes that are in each group, and those that list each feature themselves, by name.

    `secrets`: those that bind each secret in files of their own, or ANY.
    """

    groups: dict[str, list[str]]
    features: dict[str, list[str]]
    secrets: dict[str, list[str]]


def mentions(roster: Roster) -> Mentions:
    """What all nodes say, their sets' lists included."""
    return _told((roster.said(name), (name,)) for name in roster.names())


def mentions_of(classes: Iterable[NodeClass]) -> Mentions:
    """The same where all classes are known already: nodes of one class are in the same groups."""
    return _told((kind.said, kind.names) for kind in classes)


def _told(sayings: Iterable[tuple[Said, Sequence[str]]]) -> Mentions:
    found = Mentions({}, {}, {})
    for said, names in sayings:
        for ref in said.groups:
            found.groups.setdefault(ref.name, []).extend(names)
        for use, _ in said.features:
            found.features.setdefault(use.feature, []).extend(names)
        own = said.own
        for secret in secrets_of(own.params.values()) if own is not None and own.params else ():
            found.secrets.setdefault(secret, []).extend(names)
    return found


def collecting(nodes: Mapping[str, Node]) -> list[str]:
    """The nodes whose own files collect values of other nodes; of what was read before none is looked at."""
    names = nodes.holding(Op.COLLECT.value.encode()) if isinstance(nodes, Shelf) else nodes
    return [name for name in names if collects(nodes[name].params.values())]


def collects(bound: Iterable[Binding]) -> bool:
    """Does one of some bindings take values of other nodes?"""
    return any(one.op is Op.COLLECT for one in bound)


def secrets_of(bound: Iterable[Binding]) -> set[str]:
    """The secrets that bindings name, each as written; ANY of one whose name is made."""
    given = [one.given for one in bound if one.op is Op.SECRET]
    return {ANY if ANY in name else name for name in given}
