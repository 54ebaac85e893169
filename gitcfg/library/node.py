"""One node of a fleet, as a program sees it."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gitcfg.compile.fleet import FleetNode
    from gitcfg.compile.trail import TrailStep
    from gitcfg.library.fleet import Fleet
    from gitcfg.render.files import RenderedFile


class Node:
    """One node of a fleet: `params` and `files` are what it gets, `explain` says why."""

    def __init__(self, fleet: "Fleet", node: "FleetNode") -> None:
        self.fleet = fleet
        self._node = node
        self.name = node.name

    @property
    def params(self) -> Mapping[str, Any]:
        """Final values by parameter, in order of name; a bare parameter is None."""
        return self._node.params

    @property
    def features(self) -> tuple[str, ...]:
        """The feature set, in order of name."""
        return self._node.features

    @property
    def groups(self) -> tuple[str, ...]:
        """Explicit groups, highest first."""
        return self._node.groups

    @cached_property
    def rendered(self) -> Mapping[str, "RenderedFile"]:
        """The node's files by path, each with mode, owner, group and digest."""
        from gitcfg.render.files import rendered

        return rendered(self.fleet.compiled, self._node, self.fleet.engine)

    @property
    def files(self) -> Mapping[str, str]:
        """The contents of the node's files by path."""
        return {path: file.content for path, file in self.rendered.items()}

    @cached_property
    def digest(self) -> str:
        """One hash over the node's files and subsystems."""
        from gitcfg.render.files import node_digest

        return node_digest(self.fleet.compiled, self._node, self.rendered)

    def explain(self, param: str) -> tuple["TrailStep", ...]:
        """The parameter's trail: every step that binds it, lowest first."""
        return self._node.trail(param)

    def told(self, param: str, everything: bool) -> tuple[Any, tuple["TrailStep", ...]]:
        """A parameter's value with the steps that count, or with those that were overridden too."""
        steps = self.explain(param)
        return self.params.get(param), tuple(step for step in steps if everything or not step.overridden)
