"""Nodes that walk in: git does not describe them, and means the same for all of them."""

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gitcfg.cache.cache import NoCache
from gitcfg.compile.part import part
from gitcfg.library import Fleet
from gitcfg.model import ListEdit, Node, Op, Origin, Ref

if TYPE_CHECKING:
    from gitcfg.state import NodeState

_FEW = 200


def guest(fleet: Fleet, name: str, today: date) -> Fleet | None:
    """The fleet of a node that nobody has described; None: the commit gives such nodes nothing."""
    model = fleet.model
    if model.settings.walk_in is None:
        return None
    origin = model.settings.origin
    groups = ListEdit(Op.SET, tuple(Ref(ref.name, ref.origin) for ref in model.settings.walk_in), origin)
    node = Node(name, Origin(origin.file), groups=groups)
    alone = part(replace(model, nodes={name: node}, nodesets={}), [name])
    found = Fleet(fleet.tree, None, today, NoCache(), alone)
    found.compiled.beside(lambda: fleet.compiled)
    return found


def guests_behind(fleet: Fleet, seen: Iterable["NodeState"], today: date) -> frozenset[str]:
    """The nodes that walked in and run something else than a commit means; none where nobody walks in.

    They get the same but for their names: where they are many, one speaks for all that run the same commit.
    """
    if fleet.model.settings.walk_in is None:
        return frozenset()
    alike: dict[str | None, list[NodeState]] = {}
    for one in seen:
        if one.node not in fleet and one.commit != fleet.commit:
            alike.setdefault(one.commit, []).append(one)
    late: set[str] = set()
    for group in alike.values():
        if len(group) <= _FEW:
            late |= {one.node for one in group if _differs(fleet, one, today)}
        elif _differs(fleet, group[0], today):
            late |= {one.node for one in group}
    return frozenset(late)


def _differs(fleet: Fleet, one: "NodeState", today: date) -> bool:
    return one.digest is None or one.digest != guest_digest(fleet, one.node, today)


def guest_digest(fleet: Fleet, name: str, today: date) -> str | None:
    """The digest of all that a node that walks in gets at a commit; None: it gets nothing."""
    found = guest(fleet, name, today)
    if found is None:
        return None
    with found:
        return found[name].digest
