"""Nodes that nobody has described get what the check of them was about."""

from datetime import date

import pytest

from gitcfg.inventory.nodes import (
    build_walk_in,
    build_walk_ins,
    find_unchanged_walk_ins,
    find_walk_in_digests,
    find_walk_ins_behind,
    may_differ_by_name,
)
from gitcfg.library import in_memory
from gitcfg.state.records import NodeState

FILES = {
    "gitcfg.yaml": "format: 1\nwalk_in: {groups: [guests]}\n",
    "parameters/p.yaml": "parameters: {peers: {type: list}, zone: {type: string}}\n",
    "features/peer.yaml": "params: {peers: {$collect: {param: name, feature: peer}}}\n",
    "groups/guests.yaml": "description: Whoever comes.\n",
    "nodes/a.yaml": "features: [peer]\n",
    "nodes/b.yaml": "features: [peer]\n",
    "rules/r.yaml": (
        "rules:\n"
        "  peers: {install: peer, where: '\"guests\" in node.groups'}\n"
        "  zone: {set: {zone: z}, where: '\"peer\" in node.features'}\n"
    ),
}


def test_who_walks_in_has_what_rules_bring_and_collects_from_those_who_are_described() -> None:
    with in_memory(FILES, date(2026, 1, 1)) as fleet:
        found = build_walk_in(fleet, "stranger", date(2026, 1, 1))
        assert found is not None
        with found:
            assert found["stranger"].params == {"peers": ["a", "b"], "zone": "z"}
        (kind,) = fleet.compiled.walking_in
        assert kind.params == {"peers": ["a", "b"], "zone": "z"}
        assert fleet["a"].params == {"peers": ["a", "b"], "zone": "z"}


RULES = """\
rules:
  by-name: {install: peer, where: 'node.name.endsWith("7")'}
  by-list: {set: {zone: odd}, where: 'node.name in ["g1", "g3"]'}
"""
NAMED = {
    **FILES,
    "rules/r.yaml": RULES,
    "groups/default.yaml": "files: {/etc/p: {format: json, params: [zone]}}\n",
    "overrides/o.yaml": "where: 'node.name == \"g2\"'\nreason: r\nuntil: 2027-01-01\nparams: {zone: held}\n",
}
GUESTS = [f"g{number}" for number in range(18)]
TODAY = date(2026, 1, 1)


def test_it_is_what_they_would_get_if_they_were_described() -> None:
    described = {**NAMED, **{f"nodes/{name}.yaml": "groups: [guests]\n" for name in GUESTS}}
    with in_memory(NAMED, TODAY) as fleet, in_memory(described, TODAY) as whole:
        alone = build_walk_ins(fleet, GUESTS, TODAY)
        assert alone is not None
        for name in GUESTS:
            one = build_walk_in(fleet, name, TODAY)
            assert one is not None
            for found in (alone[name], one[name]):
                assert (found.features, found.digest) == (whole[name].features, whole[name].digest)
                assert found.params.get("zone") == whole[name].params.get("zone")
        assert {alone[name].params.get("zone") for name in GUESTS} == {None, "odd", "held"}


def test_each_speaks_for_itself_where_names_make_a_difference() -> None:
    later = {**NAMED, "rules/r.yaml": RULES.replace('"g3"', '"g4"')}
    with in_memory(NAMED, TODAY) as old, in_memory(later, TODAY) as new:
        assert frozenset(GUESTS) - find_unchanged_walk_ins(old, new, GUESTS, TODAY) == {"g3", "g4"}
    with in_memory(FILES, TODAY) as old, in_memory(NAMED, TODAY) as new:
        assert not may_differ_by_name(old)
        assert frozenset(GUESTS) - find_unchanged_walk_ins(old, new, GUESTS, TODAY) == frozenset(GUESTS)


@pytest.mark.parametrize("known", [True, False])
def test_many_are_asked_one_by_one_where_names_make_a_difference(known: bool) -> None:
    """Or where it is not known whether they did at the commit that they run."""
    many = [f"g{number}" for number in range(300)]
    later = {**NAMED, "rules/r.yaml": RULES.replace('"g3"', '"g4"')}
    with in_memory(NAMED, TODAY) as old, in_memory(later, TODAY) as new:
        ran = find_walk_in_digests(old, many, TODAY)
        seen = [NodeState(name, 1.0, 2.0, 1.0, commit="0" * 40, digest=ran[name]) for name in many]
        assert find_walk_ins_behind(new, seen, lambda _: old if known else None, TODAY) == {"g3", "g4"}
