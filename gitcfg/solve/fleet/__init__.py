"""From a fleet and its rules to the choice that they leave open, and back: what is decided for each rule."""

from gitcfg.solve.fleet.answers import Cause, Change, ChangeKind, RuleFailure, Solved, Unsolved, difference
from gitcfg.solve.fleet.decide import decide

__all__ = ["Cause", "Change", "ChangeKind", "RuleFailure", "Solved", "Unsolved", "decide", "difference"]
