"""The nodes that a CEL condition selects, and conditions that are stopped before they finish."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import msgspec

from gitcfg.cel import NODE_VARIABLES, CelProblem, CelStopped, Condition, compile_condition
from gitcfg.compile.nodes import NodeDefinition
from gitcfg.model import GitcfgError, Ref
from gitcfg.model.names import shown


class Stopped(GitcfgError):
    """An expression was stopped, so that what depends on it is not known for any node.

    `what` describes it, `owner` is the definition that has it, and `at` its place, if it is in a file.
    """

    def __init__(self, what: str, problem: CelStopped, owner: str = "", at: Ref | None = None) -> None:
        hint = f"{problem.hint[:1].upper()}{problem.hint[1:]}."
        place = f" ({at.origin})" if at is not None else ""
        super().__init__(f"{what} fails: {problem.message}{place}.", *([hint] if problem.hint else []))
        self.what, self.owner, self.at = what, owner, at
        self.problem = CelStopped(*problem.args)  # without its traceback's frames

    def named(self, what: str, owner: str, at: Ref | None = None) -> Self:
        """Return the error with the expression's owner, or unchanged if it has one already."""
        return self if self.owner else type(self)(what, self.problem, owner, at)


# Which nodes a CEL condition selects.


class NodeView:
    """The values that a condition may read of a node; each is computed when it is read."""

    def __init__(
        self,
        name: str,
        definition: NodeDefinition,
        features: Callable[[], Iterable[str]],
        params: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self.name = name
        self.ask: Mapping[str, Callable[[], Any]] = {
            "node.name": lambda: name,
            "node.groups": lambda: [ref.name for ref in definition.groups],
            "node.features": lambda: sorted(features()),
            "node.labels": lambda: list(definition.labels),
            "node.facts": definition.fact_values,
            "node.params": lambda: dict(params()),
        }


class Selection(msgspec.Struct, frozen=True):
    """The nodes for which a condition holds, and those on which it cannot be evaluated.

    `problem` is why the condition cannot be read at all.
    """

    names: frozenset[str] = frozenset()
    failed: Mapping[str, CelProblem] = {}
    problem: CelProblem | None = None


def select_nodes(text: str, nodes: Callable[[], Sequence[NodeView]], params: bool = False) -> Selection:
    """Return what a condition selects. `nodes` is not called if the condition cannot be read.

    Raise Stopped if it takes too long.
    """
    known = {name: kind for name, kind in NODE_VARIABLES.items() if params or name != "node.params"}
    try:
        condition = compile_condition(text, known)
    except CelProblem as problem:
        return Selection(problem=_bare(problem))
    try:
        return evaluate_condition(condition, nodes())
    except CelStopped as problem:
        raise Stopped(f"The condition {shown(text)}", problem) from None


def evaluate_condition(condition: Condition, nodes: Sequence[NodeView]) -> Selection:
    """Return which of some nodes a condition selects. Raise CelStopped if it takes too long."""
    rows = [{name: node.ask[name]() for name in condition.names} for node in nodes]
    holds, problems = condition.holds_each(rows)
    names = frozenset(node.name for node, held in zip(nodes, holds, strict=True) if held)
    return Selection(names, {nodes[row].name: problem for row, problem in problems.items()})


def _bare(problem: CelProblem) -> CelProblem:
    """Return a problem without its traceback, whose frames would keep the fleet in a reference cycle."""
    return CelProblem(*problem.args)
