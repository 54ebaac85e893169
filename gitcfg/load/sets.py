"""Node sets by name, with their members: all are read when the first is asked for."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from gitcfg.git.tree import DictTree
from gitcfg.load.nodesets import Alike, unique_members, with_members
from gitcfg.load.reading import Reading
from gitcfg.load.shelf import Shelf
from gitcfg.model import Finding, Node, NodeSet, Origin


class NodeSets(Mapping[str, NodeSet]):
    """Who is in a set depends on the sets before it, and on the names of the nodes that have files."""

    def __init__(self, written: Shelf[Alike], nodes: Shelf[Node], most: int) -> None:
        self._written = written
        self._nodes = nodes
        self._most = most

    def __getitem__(self, name: str) -> NodeSet:
        return self._complete[0][name]

    def __contains__(self, name: object) -> bool:
        return name in self._written

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def findings(self) -> tuple[Finding, ...]:
        """What is wrong with the sets, and with who is in them."""
        return (*self._written.findings(), *self._complete[1])

    def so_far(self) -> tuple[Finding, ...]:
        """The same as far as it is known."""
        return self.findings() if "_complete" in self.__dict__ else self._written.so_far()

    @cached_property
    def _complete(self) -> tuple[dict[str, NodeSet], tuple[Finding, ...]]:
        reading = Reading(DictTree({}))
        sets = with_members(reading, dict(self._written.items()), self._most)
        places = (
            {name: Origin(entry.path) for name, entry in self._nodes.listing.entries.items()} if sets else {}
        )
        return unique_members(reading, places, sets), tuple(reading.findings)
