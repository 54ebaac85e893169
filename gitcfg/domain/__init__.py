"""Sets of values, as `domain:` rules say them: numbers, text, IP addresses, networks and dates."""

from gitcfg.domain.kinds import Kind, Value
from gitcfg.domain.parse import LONGEST_ITEM, MOST_ITEMS, parse
from gitcfg.domain.problem import DomainProblem
from gitcfg.domain.taken import Taken
from gitcfg.domain.values import Values

__all__ = ["LONGEST_ITEM", "MOST_ITEMS", "DomainProblem", "Kind", "Taken", "Value", "Values", "parse"]
