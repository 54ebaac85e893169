"""Nodes of which the same is said, so that they are looked at once."""

from collections.abc import Iterator

from gitcfg.compile.nodes import Roster
from gitcfg.history.pool import Pool
from gitcfg.model import Node, NodeSet, Override

Situation = tuple[tuple[str, ...], Node | None, NodeSet | None, tuple[Override, ...]]
"""Nodes of which the same is said: their names, file, set, and the overrides that list them."""


def alone(pool: Pool, roster: Roster, name: str) -> Situation:
    """What is said of one node."""
    own = pool.definitions["nodes"].get(name)
    return (name,), own, roster.sets.get(name), roster.listed.get(name, ())


def situations(pool: Pool, roster: Roster, apart: bool) -> Iterator[Situation]:
    """Every node once; members of a set of which nothing else is said come together, unless `apart`."""
    names = {*pool.definitions["nodes"], *(name for name in roster.listed if name in roster.sets)}
    if apart:
        names |= roster.sets.keys()
    for name in names:
        yield alone(pool, roster, name)
    for nodeset in roster.model.nodesets.values():
        rest = tuple(name for name in nodeset.members if name not in names)
        if rest:
            yield rest, None, nodeset, ()
