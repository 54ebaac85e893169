"""Nodes that nobody has described get what the check of them was about."""

from datetime import date

from gitcfg.inventory.guests import guest
from gitcfg.library import in_memory

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
        found = guest(fleet, "stranger", date(2026, 1, 1))
        assert found is not None
        with found:
            assert found["stranger"].params == {"peers": ["a", "b"], "zone": "z"}
        (kind,) = fleet.compiled.walking_in
        assert kind.params == {"peers": ["a", "b"], "zone": "z"}
        assert fleet["a"].params == {"peers": ["a", "b"], "zone": "z"}
