"""Nodes by the groups that they are in: which combinations a picture has room for, which it folds."""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import combinations

import msgspec

from gitcfg.compile.fleet import Fleet

MOST = 40
"""So many combinations can still be told apart in a picture."""

MOST_PAIRS = 20
"""And so many lines between groups in one column."""


class Combination(msgspec.Struct, frozen=True):
    """Nodes with the same groups, highest first, whether these exist or not; the default group is last."""

    groups: tuple[str, ...]
    nodes: tuple[str, ...]
    retired: bool = False


class Folded(msgspec.Struct, frozen=True):
    """Combinations that are drawn one by one, and those that are folded. Together they hold every node."""

    drawn: tuple[Combination, ...]
    rest: tuple[Combination, ...] = ()


def combined(fleet: Fleet, among: Collection[str] = ()) -> tuple[Combination, ...]:
    """Every combination that nodes have, largest first; or only those with one of some groups."""
    default = fleet.model.settings.default_group
    nodes: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for kind in fleet.classes:
        explicit = (ref.name for ref in kind.said.groups if ref.name != default)
        nodes.setdefault(((*explicit, default), kind.said.retired), []).extend(kind.names)
    found = (Combination(key[0], tuple(sorted(names)), key[1]) for key, names in nodes.items())
    chosen = (each for each in found if not among or not set(among).isdisjoint(each.groups))
    return tuple(sorted(chosen, key=lambda each: (-len(each.nodes), each.groups, each.retired)))


def folded(found: tuple[Combination, ...]) -> Folded:
    """As many as there is room for: all, or those of several nodes each if they hold half of the nodes."""
    if len(found) <= MOST:
        return Folded(found)
    everyone = _nodes(found)
    large = tuple(each for each in found[: MOST - 1] if len(each.nodes) >= max(2, everyone // 100))
    drawn = large if 2 * _nodes(large) >= everyone else ()
    return Folded(drawn, found[len(drawn) :])


def _nodes(found: Iterable[Combination]) -> int:
    return sum(len(each.nodes) for each in found)


def shared(found: Iterable[Combination], groups: Collection[str]) -> list[tuple[int, str, str]]:
    """Pairs of explicit groups, each with the number of nodes that are in both, largest first."""
    pairs = Counter[tuple[str, str]]()
    for each in found:
        among = sorted(group for group in each.groups[:-1] if group in groups)
        for pair in combinations(among, 2):
            pairs[pair] += len(each.nodes)
    return sorted(((count, *pair) for pair, count in pairs.items()), key=lambda pair: (-pair[0], pair[1:]))
