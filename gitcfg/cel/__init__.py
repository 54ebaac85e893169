"""Expressions in CEL, the Common Expression Language: compiled once, asked of many nodes."""

from gitcfg.cel.analysis import fields_asked, fields_asked_of_each, members_asked
from gitcfg.cel.errors import CelProblem, CelStopped
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
from gitcfg.cel.variables import NODE_VARIABLES, NODES_VARIABLES, OTHER_VARIABLES, SELF_VARIABLES

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
    "fields_asked",
    "fields_asked_of_each",
    "members_asked",
    "plain_key",
]
