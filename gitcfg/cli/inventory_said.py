"""What is known of nodes beside git: by a server, or where there is none, by what was deployed from here."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.server_state import StateQuery, find_node_states
from gitcfg.inventory.places import Described, Place, Tip, joined
from gitcfg.library import Source

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state import NodeState


class Said(msgspec.Struct, frozen=True):
    """What is known of nodes beside git; `everybody`: of others it is known that they never came."""

    nodes: "Mapping[str, NodeState]"
    everybody: bool

    @property
    def any(self) -> bool:
        """Is anything known?"""
        return self.everybody or bool(self.nodes)

    def places(self, git: Mapping[str, Described], tip: Tip) -> tuple[Place, ...]:
        """All nodes, in order of name."""
        if self.everybody:
            return joined(git, self.nodes, tip)
        there = {name: said for name, said in git.items() if name in self.nodes}
        others = {name: said for name, said in git.items() if name not in self.nodes}
        both = (*joined(there, self.nodes, tip), *joined(others, None, tip))
        return tuple(sorted(both, key=lambda place: place.name))


def known_of(source: Source, asked: StateQuery) -> Said:
    """What a server knows; where there is none, what was deployed from here."""
    found = find_node_states(source.repository, asked, facts=True)
    if found is not None:
        return Said({one.node: one for one in found}, True)
    return Said({one.node: one for one in _deployed(source.repository)}, False)


def _deployed(repository: "Repository") -> "list[NodeState]":
    if repository.shared is None:
        return []
    from gitcfg.deploy.record_files import folder_of, ids, runs_in_order

    folder = folder_of(repository.shared)
    if not ids(folder):
        return []
    from gitcfg.deploy.record_told import states

    return states(runs_in_order(folder))
