"""The decisions that rules leave open, on plain data: what is placed where, and the values of slots."""

from gitcfg.solve.conflicts import WORK, Exhausted, Unsolvable
from gitcfg.solve.placement import place
from gitcfg.solve.problem import (
    AllDifferent,
    Bound,
    Domain,
    Excludes,
    Fixed,
    GivenValue,
    Implies,
    InDomain,
    PlacementProblem,
    Spot,
    Value,
    ValueProblem,
    ValueSlot,
)
from gitcfg.solve.values import assign_values

__all__ = [
    "WORK",
    "AllDifferent",
    "Bound",
    "Domain",
    "Excludes",
    "Exhausted",
    "Fixed",
    "GivenValue",
    "Implies",
    "InDomain",
    "PlacementProblem",
    "Spot",
    "Unsolvable",
    "Value",
    "ValueProblem",
    "ValueSlot",
    "assign_values",
    "place",
]
