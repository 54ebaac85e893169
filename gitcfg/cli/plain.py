"""Texts that are safe to show, and numbers with their nouns: what also the quickest commands need."""

from gitcfg.model.text import ABBREVIATED, counted, few, safe

__all__ = ["ABBREVIATED", "counted", "extra", "few", "safe"]


def extra(name: str) -> str:
    """The hint that says how to install an extra.

    Not by the project's name: it is not published, and on an index that name is anybody's.
    """
    return f"`pip install '.[{name}]'`, where gitcfg's source is, brings what it needs."
