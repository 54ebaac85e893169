"""Which nodes a CEL condition selects."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from gitcfg.cel import NODE_VARIABLES, CelProblem, Condition, compile_condition
from gitcfg.compile.nodes import Said


class NodeView:
    """What a condition may ask of a node, each computed only if it is asked."""

    def __init__(
        self,
        name: str,
        said: Said,
        features: Callable[[], Iterable[str]],
        params: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self.name = name
        self.ask: Mapping[str, Callable[[], Any]] = {
            "node.name": lambda: name,
            "node.groups": lambda: [ref.name for ref in said.groups],
            "node.features": lambda: sorted(features()),
            "node.labels": lambda: list(said.labels),
            "node.facts": said.fact_values,
            "node.params": lambda: dict(params()),
        }


class Selection:
    """The nodes for which a condition holds. `problem` is why it cannot be read at all."""

    def __init__(self, text: str, nodes: Callable[[], Sequence[NodeView]], params: bool = False) -> None:
        self._nodes = nodes
        self.problem: CelProblem | None = None
        self._condition: Condition | None = None
        known = {name: kind for name, kind in NODE_VARIABLES.items() if params or name != "node.params"}
        try:
            self._condition = compile_condition(text, known)
        except CelProblem as problem:
            self.problem = problem

    @cached_property
    def _answers(self) -> tuple[frozenset[str], Mapping[str, CelProblem]]:
        condition = self._condition
        if condition is None:
            return frozenset(), {}
        nodes = self._nodes()
        rows = [{name: node.ask[name]() for name in condition.names} for node in nodes]
        try:
            holds, problems = condition.holds_each(rows)
        except CelProblem as problem:  # it was stopped: for no node can anything be said
            return frozenset(), {node.name: problem for node in nodes}
        chosen = frozenset(node.name for node, held in zip(nodes, holds, strict=True) if held)
        return chosen, {nodes[row].name: problem for row, problem in problems.items()}

    @property
    def names(self) -> frozenset[str]:
        """The nodes selected."""
        return self._answers[0]

    @property
    def failed(self) -> Mapping[str, CelProblem]:
        """Nodes on which the condition could not be evaluated: they are not selected."""
        return self._answers[1]
