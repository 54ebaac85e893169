"""The choice that rules leave open, on plain data: what is placed where, and which slot gets which value."""

from gitcfg.solve.conflicts import WORK, Exhausted, Unsolvable
from gitcfg.solve.placement import place
from gitcfg.solve.problem import (
    Apart,
    Bound,
    ByHand,
    Domain,
    Excludes,
    Fixed,
    Giving,
    Implies,
    Placing,
    Spot,
    Value,
    Want,
    Within,
)
from gitcfg.solve.values import give

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
