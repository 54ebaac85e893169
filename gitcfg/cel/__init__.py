"""Expressions in CEL, the Common Expression Language: compiled once, asked of many nodes."""

from gitcfg.cel.budget import Budget
from gitcfg.cel.condition import Condition, compile_condition
from gitcfg.cel.fields import fields_asked, fields_asked_of_each
from gitcfg.cel.key import Key, KeyExpression, Truth, as_key, compile_key, plain_key
from gitcfg.cel.membership import members_asked
from gitcfg.cel.problem import CelProblem, CelStopped
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
