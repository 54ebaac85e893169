"""Expressions in CEL, the Common Expression Language: compiled once, evaluated for many nodes."""

from gitcfg.cel.analysis import find_fields, find_fields_of_each, find_members
from gitcfg.cel.base import (
    NODE_VARIABLES,
    NODES_VARIABLES,
    OTHER_VARIABLES,
    SELF_VARIABLES,
    CelProblem,
    CelStopped,
)
from gitcfg.cel.expression import (
    Budget,
    Condition,
    Key,
    KeyExpression,
    Truth,
    as_key,
    compile_condition,
    compile_key,
    plain_key,
)

__all__ = [
    "NODES_VARIABLES",
    "NODE_VARIABLES",
    "OTHER_VARIABLES",
    "SELF_VARIABLES",
    "Budget",
    "CelProblem",
    "CelStopped",
    "Condition",
    "Key",
    "KeyExpression",
    "Truth",
    "as_key",
    "compile_condition",
    "compile_key",
    "find_fields",
    "find_fields_of_each",
    "find_members",
    "plain_key",
]
