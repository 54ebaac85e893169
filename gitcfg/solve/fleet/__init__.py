"""From a fleet and its rules to the decisions that they leave open, and back to allocations."""

from gitcfg.solve.fleet.answers import Cause, Change, ChangeKind, RuleFailure, Solved, Unsolved, difference
from gitcfg.solve.fleet.decide import decide

__all__ = ["Cause", "Change", "ChangeKind", "RuleFailure", "Solved", "Unsolved", "decide", "difference"]
