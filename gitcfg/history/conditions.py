"""The class of a node: what rules bring to it, and the overrides that apply.

Conditions of overrides are asked once for all that they see alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from gitcfg.cel import NODE_VARIABLES, CelProblem, Condition, compile_condition
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.nodes import Said
from gitcfg.compile.ruled.brought import Brought, Installed
from gitcfg.compile.selection import NodeView
from gitcfg.compile.stacks import Stacks
from gitcfg.compile.stopped import Stopped
from gitcfg.model import Override

if TYPE_CHECKING:
    from gitcfg.compile.ruled.bringing import Bringing

_KNOWN = {name: kind for name, kind in NODE_VARIABLES.items() if name != "node.params"}


Listed = tuple[str, Said, Iterable[Override]]
"""A node, and the overrides that list it."""


class Conditions:
    """Answers of overrides' conditions, kept across commits."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], bool] = {}

    def look(
        self,
        nodes: Iterable[Listed],
        selecting: Iterable[Override],
        stacks: Stacks,
        bringing: "Bringing",
    ) -> None:
        """Find what rules bring to nodes, with the overrides that list them: of many at once it is faster.

        Where one was stopped that is seen again node by node.
        """
        with suppress(Stopped):
            self._beings(tuple(nodes), selecting, stacks, bringing)

    def compiled(
        self,
        name: str,
        said: Said,
        listed: Iterable[Override],
        selecting: Iterable[Override],
        stacks: Stacks,
        bringing: "Bringing | None",
    ) -> NodeClass:
        """What a node compiles to. Rules of which one was stopped bring nothing: what came before and after
        them is told all the same.
        """
        if bringing is not None:
            with suppress(Stopped):
                beings, brought = self._beings([(name, said, listed)], selecting, stacks, bringing)
                return stacks.compile(*beings[name], brought[name])
        return stacks.compile(said, self._applying(name, said, listed, selecting, stacks, ()))

    def _beings(
        self, nodes: Sequence[Listed], selecting: Iterable[Override], stacks: Stacks, bringing: "Bringing"
    ) -> tuple[Mapping[str, tuple[Said, tuple[Override, ...]]], Mapping[str, Brought]]:
        """Nodes with all overrides that apply to them, and what rules bring. Stopped: nobody knows."""
        installs = bringing.installs({name: said for name, said, _ in nodes})
        beings = {
            name: (said, self._applying(name, said, listed, selecting, stacks, installs[name]))
            for name, said, listed in nodes
        }
        return beings, bringing.brought(beings)

    def _applying(
        self,
        name: str,
        said: Said,
        listed: Iterable[Override],
        selecting: Iterable[Override],
        stacks: Stacks,
        installs: tuple[Installed, ...],
    ) -> tuple[Override, ...]:
        """The overrides that list a node, and those whose conditions hold for it, in order of name."""
        view = NodeView(name, said, lambda: stacks.below_overrides(said, installs))
        chosen = (each for each in selecting if each.where and self._holds(each.where.name, view))
        return tuple(sorted((*listed, *chosen), key=lambda override: override.name))

    def _holds(self, text: str, node: NodeView) -> bool:
        """Does it hold? One that is wrong, or fails on the node, does not."""
        condition = _compiled(text)
        if condition is None:
            return False
        row = {name: node.ask[name]() for name in sorted(condition.names)}
        key = (text, repr(row))
        if key not in self._answers:
            self._answers[key] = _asked(condition, row)
        return self._answers[key]


def by_name(selecting: Iterable[Override]) -> bool:
    """Does one of these conditions tell nodes apart by their names?"""
    conditions = (_compiled(override.where.name) for override in selecting if override.where)
    return any("node.name" in condition.names for condition in conditions if condition is not None)


def bringing(stacks: Stacks) -> "Bringing | None":
    """What finds what rules bring to nodes, each as it is when it is asked about first; None: no rules."""
    if not stacks.model.rules:
        return None
    from gitcfg.compile.ruled.bringing import Bringing

    return Bringing(stacks.layers)


def _asked(condition: Condition, row: dict[str, object]) -> bool:
    try:
        return condition.holds(row)
    except CelProblem:
        return False


@cache
def _compiled(text: str) -> Condition | None:
    try:
        return compile_condition(text, _KNOWN)
    except CelProblem:
        return None
