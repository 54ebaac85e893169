"""Walk-in nodes: git does not describe them; they get what they would if it named their groups."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gitcfg.cache import NoCache
from gitcfg.compile.subset import take_part
from gitcfg.library import Fleet
from gitcfg.model import ListEdit, Node, Op, Origin, Ref
from gitcfg.model.rules import RuleKind

if TYPE_CHECKING:
    from gitcfg.state.records import NodeState

Older = Callable[[str], Fleet | None]
"""The fleet of a commit that a node says to run; None: it is not here."""
_FEW = 200
_BRINGING = (RuleKind.INSTALL, RuleKind.SET, RuleKind.DOMAIN)


def build_walk_in(fleet: Fleet, name: str, today: date) -> Fleet | None:
    """Build the fleet of a node that git does not describe; None: the commit gives such nodes nothing."""
    return build_walk_ins(fleet, [name], today)


def build_walk_ins(fleet: Fleet, names: Iterable[str], today: date) -> Fleet | None:
    """Build the fleet of several such nodes."""
    model = fleet.model
    if model.settings.walk_in is None:
        return None
    origin = model.settings.origin
    groups = ListEdit(Op.SET, tuple(Ref(ref.name, ref.origin) for ref in model.settings.walk_in), origin)
    nodes = {name: Node(name, Origin(origin.file), groups=groups) for name in names}
    alone = take_part(replace(model, nodes=nodes, nodesets={}), nodes)
    return Fleet(fleet.tree, None, today, NoCache(), alone, beside=fleet)


def find_walk_ins_behind(
    fleet: Fleet, seen: Iterable["NodeState"], older: Older, today: date
) -> frozenset[str]:
    """Return the nodes that walked in and run something else than a commit means.

    Of many that run the same commit one stands for all, where names make no difference.
    """
    if fleet.model.settings.walk_in is None:
        return frozenset()
    alike: dict[str | None, list[NodeState]] = {}
    for one in seen:
        if one.node not in fleet and one.commit != fleet.commit:
            alike.setdefault(one.commit, []).append(one)
    late: set[str] = set()
    for commit, group in alike.items():
        some = group[:1] if len(group) > _FEW and not _may_differ_at(fleet, commit, older) else group
        wanted = find_walk_in_digests(fleet, [one.node for one in some], today)
        differing = {one.node for one in some if one.digest is None or one.digest != wanted[one.node]}
        late |= differing if some is group or not differing else {one.node for one in group}
    return frozenset(late)


def find_unchanged_walk_ins(old: Fleet, new: Fleet, names: Sequence[str], today: date) -> frozenset[str]:
    """Return those that get the same at two commits, and not nothing, of some nodes that walk in at both."""
    some = names if may_differ_by_name(old) or may_differ_by_name(new) else names[:1]
    before, after = find_walk_in_digests(old, some, today), find_walk_in_digests(new, some, today)
    same = {name for name in some if before[name] == after[name] is not None}
    return frozenset(same if some is names or not same else names)


def may_differ_by_name(fleet: Fleet) -> bool:
    """Return whether walk-in nodes may differ in more than their names.

    They may by rules, allocations and overrides; conditions are taken by their letters.
    """
    model = fleet.model
    conditions = [rule.where for rule in model.rules.values() if rule.kind in _BRINGING]
    conditions += [override.where for override in model.overrides.values()]
    listed = any(override.members is not None for override in model.overrides.values())
    return listed or bool(model.allocations) or any(said and "name" in said.name for said in conditions)


def _may_differ_at(fleet: Fleet, commit: str | None, older: Older) -> bool:
    """Return whether walk-in nodes may differ at a commit, or at the one that they run."""
    if may_differ_by_name(fleet):
        return True
    old = None if commit is None else older(commit)
    if old is None:
        return commit is not None
    with old:
        return may_differ_by_name(old)


def find_walk_in_digests(fleet: Fleet, names: Sequence[str], today: date) -> Mapping[str, str | None]:
    """Return the digests of what walk-in nodes get at a commit; None: they get nothing."""
    found = build_walk_ins(fleet, names, today)
    if found is None:
        return dict.fromkeys(names)
    with found:
        return {name: found[name].digest for name in names}
