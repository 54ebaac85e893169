"""Nodes whose files could not be understood are not judged, and do not hide others that are alike."""

import gitcfg

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  P: {type: string, description: p, must_change: true}\n",
    "groups/default.yaml": "params: {P: null}\n",
}


def concerned(files: dict[str, str]) -> set[str]:
    """The nodes that lack a value of their own."""
    with gitcfg.in_memory({**FILES, **files}) as fleet:
        return {name for found in fleet.findings if found.code == "GC305" for name in found.nodes}


def test_a_misread_node_is_not_judged_with_those_that_are_alike() -> None:
    nodes = {"nodes/a.yaml": "wrong: 1\n", "nodes/b.yaml": "{}\n", "nodes/c.yaml": "groups: 7\n"}
    assert concerned(nodes) == {"b"}


def test_a_misread_set_is_not_judged_with_nodes_that_are_alike() -> None:
    sets = {"nodesets/s.yaml": "nodes: a[1-3]\nwrong: 1\n", "nodesets/t.yaml": "nodes: b[1-2]\n"}
    assert concerned({**sets, "nodes/c.yaml": "{}\n"}) == {"b1", "b2", "c"}
