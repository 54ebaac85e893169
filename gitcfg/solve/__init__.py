"""The choice that rules leave open, on plain data: what is placed where."""

from gitcfg.solve.answer import WORK, Exhausted, Unsolvable
from gitcfg.solve.place import place
from gitcfg.solve.placing import Bound, Excludes, Fixed, Implies, Placing, Spot

__all__ = [
    "WORK",
    "Bound",
    "Excludes",
    "Exhausted",
    "Fixed",
    "Implies",
    "Placing",
    "Spot",
    "Unsolvable",
    "place",
]
