"""Everything tried on a small world, judged by the naive checker: is there an answer, and which is best?"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import chain, combinations
from typing import Any

from tests.check.rules.naive import KEYS, Data, Naive, node_of

Spot = tuple[str, str]
MOST = 8
"""Spots with which everything can be tried."""


def spots(world: Data) -> dict[Spot, str]:
    """What rules that count may place, and the first that may."""
    naive, found = Naive(deepcopy(world)), dict[Spot, str]()
    for name, rule in sorted(world["rules"].items()):
        if "install" in rule and "count" in rule:
            for slot, _, _ in naive.slots(rule):
                found.setdefault((rule["install"], slot), name)
    return found


def placing(world: Data, chosen: Iterable[Spot]) -> Data:
    """A world in which these spots are allocated, and nothing else."""
    owners, allocations = spots(world), dict[str, Any]()
    for spot in chosen:
        allocations.setdefault(owners[spot], {"install": []})["install"].append(spot[1])
    return {**world, "allocations": allocations}


def placements(world: Data) -> Iterator[frozenset[Spot]]:
    """All that are right."""
    rules = {name: rule for name, rule in world["rules"].items() if "domain" not in rule}
    able = sorted(spots(world))
    for chosen in chain.from_iterable(combinations(able, size) for size in range(len(able) + 1)):
        told = Naive(deepcopy(placing({**world, "rules": rules}, chosen))).judge()
        if not any(code in ("GC401", "GC403") for code, _ in told):
            yield frozenset(chosen)


def placed(world: Data) -> frozenset[Spot]:
    """What is allocated."""
    return frozenset(
        (world["rules"][name]["install"], slot)
        for name, said in world["allocations"].items()
        for slot in said.get("install", ())
        if "install" in world["rules"].get(name, ())
    )


def standing(world: Data) -> frozenset[Spot]:
    """What stands of it: some rule wants at least so many of those among which it is."""
    naive, asked = Naive(deepcopy({**world, "allocations": {}})), set[Spot]()
    for rule in world["rules"].values():
        said = rule.get("count", 0)
        if "count" in rule and (said if isinstance(said, int) else said.get("min", 0)):
            for slot, _, _ in naive.slots({**rule, "where": rule.get("where", "true")}):
                asked |= {spot for spot in spots(world) if _counts(rule, slot, spot)}
    return placed(world) & asked


def _counts(rule: Data, slot: str, spot: Spot) -> bool:
    feature = rule.get("install", rule.get("limit"))
    near = spot[0] == feature or (feature == "service" and spot[0] in ("mail", "web"))
    here = spot[1] == slot or ("limit" in rule and "over" not in rule and node_of(spot[1]) == slot)
    return near and here


def values_can_be(world: Data) -> bool:
    """With what is placed: have the places of each domain room, beside what is set by hand?"""
    naive = Naive(deepcopy(world))
    return all(_room(naive, rule) for rule in world["rules"].values() if "domain" in rule)


def _room(naive: Naive, rule: Data) -> bool:
    ((what, items),) = rule["domain"].items()
    scopes: dict[Any, list[Any]] = {}
    for slot, node, unit in naive.slots(rule):
        by_hand = unit.get("with", {}).get(what) if "over" in rule else node["params"].get(what)
        if by_hand is not None and by_hand not in items:
            return False
        at, said = node_of(slot), rule.get("unique", "fleet")
        among = {"fleet": 0, "node": at}
        key = among[said] if said in among else KEYS[said](at, node, {})
        scopes.setdefault(key, []).append(by_hand)
    if "unique" not in rule:
        return True
    said = ([value for value in held if value is not None] for held in scopes.values())
    return all(len(held) <= len(items) for held in scopes.values()) and all(
        len(set(held)) == len(held) for held in said
    )
