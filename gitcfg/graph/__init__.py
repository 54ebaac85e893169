"""Directed graphs on plain ids: what reaches what, and what goes in circles."""

from gitcfg.graph.reach import Reach, components, reach, reverse

__all__ = ["Reach", "components", "reach", "reverse"]
