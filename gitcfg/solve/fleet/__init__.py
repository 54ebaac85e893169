"""From a fleet and its rules to the choice that they leave open, and back: what is decided for each rule."""

from gitcfg.solve.fleet.answers import Failing, Solved, Unsolved
from gitcfg.solve.fleet.causes import Cause
from gitcfg.solve.fleet.decide import decide
from gitcfg.solve.fleet.difference import Change, Deed, difference

__all__ = ["Cause", "Change", "Deed", "Failing", "Solved", "Unsolved", "decide", "difference"]
