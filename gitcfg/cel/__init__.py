"""Conditions in CEL, the Common Expression Language: compiled once, asked of many nodes."""

from gitcfg.cel.condition import Condition, compile_condition
from gitcfg.cel.membership import members_asked
from gitcfg.cel.problem import CelProblem
from gitcfg.cel.variables import NODE_VARIABLES

__all__ = ["NODE_VARIABLES", "CelProblem", "Condition", "compile_condition", "members_asked"]
