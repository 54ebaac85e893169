"""Which nodes mention which groups and features: found once for the nodes that a tree holds."""

import msgspec

from gitcfg.compile.nodes import Roster


class Mentions(msgspec.Struct, frozen=True):
    """The nodes that are in each group, and those that list each feature themselves, by name."""

    groups: dict[str, list[str]]
    features: dict[str, list[str]]


def mentions(roster: Roster) -> Mentions:
    """What all nodes say, their sets' lists included."""
    found = Mentions({}, {})
    for name in roster.names():
        said = roster.said(name)
        for ref in said.groups:
            found.groups.setdefault(ref.name, []).append(name)
        for use, _ in said.features:
            found.features.setdefault(use.feature, []).append(name)
    return found
