"""The choice that rules leave open, on plain data: what is placed where, and which slot gets which value."""

from gitcfg.solve.answer import WORK, Exhausted, Unsolvable
from gitcfg.solve.give import give
from gitcfg.solve.giving import Apart, ByHand, Domain, Giving, Value, Want, Within
from gitcfg.solve.place import place
from gitcfg.solve.placing import Bound, Excludes, Fixed, Implies, Placing, Spot

__all__ = [
    "WORK",
    "Apart",
    "Bound",
    "ByHand",
    "Domain",
    "Excludes",
    "Exhausted",
    "Fixed",
    "Giving",
    "Implies",
    "Placing",
    "Spot",
    "Unsolvable",
    "Value",
    "Want",
    "Within",
    "give",
    "place",
]
