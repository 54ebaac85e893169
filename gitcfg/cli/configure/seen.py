"""A repository as it is, or would be, seen from what is configured: its nodes, and what is wrong."""

from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from gitcfg.edit.configure import (
    IMAGINED_NODE,
    Target,
    check_imagined,
    find_definition,
    find_nodes,
    imagine_fleet,
)
from gitcfg.model import Finding, Group, Node

if TYPE_CHECKING:
    from gitcfg.comparison.comparison import Comparison
    from gitcfg.compile import fleet as whole
    from gitcfg.compile.node_class import NodeClass
    from gitcfg.library import Fleet


class Seen:
    """A fleet, and of it what is made from one definition: all else is not even read."""

    def __init__(self, fleet: "Fleet", target: Target, today: date) -> None:
        self.fleet = fleet
        self._today = today
        self.target = target

    @property
    def definition(self) -> Node | Group | None:
        """What the definition says."""
        return find_definition(self.fleet.model, self.target)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that are made from it."""
        return find_nodes(self.fleet.model, self.target, lambda: self.fleet.mentions)

    @cached_property
    def narrow(self) -> "Fleet":
        """These nodes alone."""
        return self.fleet.valued(self.nodes)

    @cached_property
    def compiled(self) -> "whole.Fleet":
        """What these nodes are made of; of a group without any, what one would be made of."""
        return self.narrow.compiled if self.nodes else self._imagined

    @cached_property
    def kinds(self) -> tuple["NodeClass", ...]:
        """Their classes."""
        names = self.nodes or (IMAGINED_NODE,)
        found = {id(kind): kind for kind in (self.compiled[name].kind for name in names)}
        return tuple(found.values())

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong, anywhere; in a group that nobody is in, as if somebody were."""
        return self.fleet.findings if self.nodes else (*self.fleet.findings, *check_imagined(self._imagined))

    @cached_property
    def _imagined(self) -> "whole.Fleet":
        fleet = self.fleet
        return imagine_fleet(fleet.model, fleet.tree, self._today, self.target.name, lambda: fleet.compiled)

    def since(self, before: "Seen") -> "Comparison":
        """What has become other on these nodes."""
        from gitcfg.library import compare

        return compare(before.narrow, self.narrow, sorted({*before.nodes, *self.nodes}))
