"""The public library: a repository opened, a fleet at a revision, and what one asks of it."""

from gitcfg.library.compared import compare
from gitcfg.library.fleet import Fleet
from gitcfg.library.node import Node
from gitcfg.library.source import Source, in_memory, open

__all__ = ["Fleet", "Node", "Source", "compare", "in_memory", "open"]
