"""What expressions build on: the variables that they may read, values, and what can be wrong with one."""

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
"""Selections and overrides. Whole names, so that a wrong one is found before any node is asked."""

SELF_VARIABLES: Mapping[str, str] = {"self.as": "string", "self.with": "map", "self.feature": "string"}
"""An instance of a feature: its name, what it was given, and whose instance it is."""

OTHER_VARIABLES: Mapping[str, str] = {
    name.replace("node.", "other."): kind for name, kind in NODE_VARIABLES.items()
}
"""A second node, of which something is collected."""

NODES_VARIABLES: Mapping[str, str] = {"nodes": "list(map)"}
"""A group of nodes, each a map with the keys `name`, `groups` and so on."""

_INT64 = 1 << 63


def plain(value: Any) -> Any:
    """Return a value in the types that CEL takes: one integer beyond 64 bits would spoil a whole map."""
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


# What can be wrong with an expression, with the place in its text.


class CelProblem(Exception):
    """One sentence, where in the expression (from 1, in characters), and what to do about it."""

    def __init__(self, message: str, line: int = 1, column: int = 1, hint: str = "") -> None:
        super().__init__(message, line, column, hint)
        self.message, self.line, self.column, self.hint = message, line, column, hint

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}"


class CelStopped(CelProblem):
    """An evaluation came to no end: nothing is known of anything that was asked about."""
