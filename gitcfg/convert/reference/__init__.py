"""A reference of one's own site: every definition with what it says and who uses it, to be read."""

from gitcfg.convert.reference.collect import collect
from gitcfg.convert.reference.content import Chapter, Entry, Reference

__all__ = ["Chapter", "Entry", "Reference", "collect"]
