"""Directed graphs on plain ids: what reaches what, and what goes in circles."""

from gitcfg.graph.reach import components, reach

__all__ = ["components", "reach"]
