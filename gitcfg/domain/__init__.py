"""Sets of values as `domain:` rules write them: numbers, text, IP addresses, networks and dates."""

from gitcfg.domain.parser import LONGEST_ITEM, MOST_ITEMS, parse
from gitcfg.domain.values import DomainProblem, Kind, Value, Values

__all__ = ["LONGEST_ITEM", "MOST_ITEMS", "DomainProblem", "Kind", "Value", "Values", "parse"]
