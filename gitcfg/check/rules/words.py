"""Words for findings about rules: counts, keys of groups, and slots."""

from collections.abc import Sequence

from gitcfg.cel import Key, Truth
from gitcfg.check.structure import listed
from gitcfg.model.names import shown

SOLVE = "Run `gitcfg solve`"


def named(key: Key | None) -> str:
    """The key of a group, as whoever wrote the rule knows it."""
    if isinstance(key, tuple):
        return "/".join(map(named, key))
    if isinstance(key, Truth):
        return key.name.lower()
    return shown(str(key))


def within(keys: Sequence[Key | None]) -> str:
    """In which groups something is so; nothing where there are none."""
    if None in keys:
        return ""
    names = sorted(map(named, keys))
    return f" in {'each of ' if len(names) > 1 else ''}{listed(names)}"
