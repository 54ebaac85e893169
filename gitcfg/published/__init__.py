"""Rendered nodes as commits on a ref, NODE/PATH: what changed is written, and what did not stays."""

from gitcfg.published.follow import follow
from gitcfg.published.outcome import Outcome, Wanted
from gitcfg.published.publisher import Publisher

__all__ = ["Outcome", "Publisher", "Wanted", "follow"]
