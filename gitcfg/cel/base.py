"""The base of expressions: the variables that they may read, their values, and their errors."""

import math
from collections.abc import Mapping
from typing import Any

NODE_VARIABLES: Mapping[str, str] = {
    "node.name": "string",
    "node.groups": "list(string)",
    "node.features": "list(string)",
    "node.labels": "list(string)",
    "node.facts": "map",
    "node.params": "map",
}
"""Variables of selections and overrides. Full names, so that a wrong one is found at compilation."""

SELF_VARIABLES: Mapping[str, str] = {"self.as": "string", "self.with": "map", "self.feature": "string"}
"""Variables of an instance of a feature: its name, its attributes, and the name of the feature."""

OTHER_VARIABLES: Mapping[str, str] = {
    name.replace("node.", "other."): kind for name, kind in NODE_VARIABLES.items()
}
"""A second node, of which something is collected."""

NODES_VARIABLES: Mapping[str, str] = {"nodes": "list(map)"}
"""A group of nodes, each a map with the keys `name`, `groups` and so on."""

_INT64 = 1 << 63


def plain(value: Any) -> Any:
    """Return a value in types that CEL accepts: a single integer beyond 64 bits would fail a whole map."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="replace").decode()
    if isinstance(value, int):
        return value if -_INT64 <= value < _INT64 else _float(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value))
    return value


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


# Errors of an expression, with the place in its text.


class CelProblem(Exception):
    """An error in one sentence, with its place in the expression (from 1, in characters) and a hint."""

    def __init__(self, message: str, line: int = 1, column: int = 1, hint: str = "") -> None:
        super().__init__(message, line, column, hint)
        self.message, self.line, self.column, self.hint = message, line, column, hint

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class CelStopped(CelProblem):
    """The evaluation of an expression did not finish: there is no result for any row."""
