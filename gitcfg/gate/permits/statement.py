"""What a repository says, piece by piece, and what every piece is about."""

from collections.abc import Callable, Collection
from typing import NamedTuple

import msgspec

from gitcfg.gate.permits.named import Thing
from gitcfg.model import Origin


class Item(NamedTuple):
    """Something in a list whose order counts."""

    id: str
    thing: Thing | None


ANY = Thing("nodes", "*")
"""Any node: which ones is not looked up, or they are very many."""
_MANY = 100_000
Key = tuple[str, ...]
"""Which piece it is: the kind and name of a definition, and what is said of it."""


class Statement(msgspec.Struct, frozen=True, gc=False):
    """One piece: `text` is equal for what means the same. A list says in which order its `items` are, too.

    `members` are nodes that it is for, which are touched only where they come or go. `besides` finds what
    else it is about, where that has to be looked for.
    """

    text: str
    origin: Origin
    about: tuple[Thing, ...]
    items: tuple[Item, ...] = ()
    members: frozenset[str] = frozenset()
    besides: Callable[[], tuple[Thing, ...]] = tuple


def node_things(nodes: Collection[str]) -> tuple[Thing, ...]:
    """Nodes as things: anybody can write a set of millions in a line."""
    return (ANY,) if len(nodes) > _MANY else tuple(Thing("nodes", name) for name in sorted(nodes))


def find_moved(old: tuple[Item, ...], new: tuple[Item, ...]) -> tuple[Thing, ...]:
    """What stands otherwise among what two lists have in common."""
    were, are = ({item.id: item for item in items} for items in (old, new))
    before = [item for id, item in were.items() if id in are]
    after = [item for id, item in are.items() if id in were]
    differing = [place for place, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    moved = after[differing[0] : differing[-1] + 1] if differing else []
    return tuple(item.thing for item in moved if item.thing is not None)
