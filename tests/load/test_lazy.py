"""A model reads what it is asked for, and no more; what it says of everything is complete."""

from gitcfg.git.tree import DictTree
from gitcfg.load.repository import findings_so_far, load, load_nodes_only
from gitcfg.model import Model, Origin, Settings
from tests.load.keeping import Dictionary, Files, Watched, said

FILES: Files = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {P: {description: d}, Q: {level: 9}}\n",
    "features/A.yaml": "include: [B]\n",
    "features/B.yaml": "params: {P: 1}\n",
    "features/C.yaml": "parms: {}\n",
    "groups/g.yaml": "features: [A]\n",
    "groups/G.yaml": "features: [C]\n",
    "nodes/n1.yaml": "groups: [g, g]\n",
    "nodes/n2.yaml": "a: [\n",
    "nodes/n 3.yaml": "{}\n",
    "nodesets/s.yaml": "nodes: m[1-3],N1\n",
    "nodesets/t.yaml": "nodes: m3\n",
    "overrides/o.yaml": "nodes: '['\nreason: r\nuntil: 2099-01-01\n",
}


def watched(keeper: Dictionary | None = None) -> tuple[Model, Watched]:
    """The model, and a tree that from now on tells what is read."""
    tree = Watched(FILES)
    model = load(tree, keeper)
    tree.reads.clear()
    return model, tree


def test_names_are_known_without_reading() -> None:
    model, tree = watched()
    assert list(model.nodes) == ["n1", "n2"]
    assert ("n1" in model.nodes, "n 3" in model.nodes) == (True, False)
    assert (len(model.features), len(model.groups), len(model.nodesets)) == (3, 2, 2)
    assert tree.reads == []


def test_a_definition_is_read_once_when_it_is_asked_for() -> None:
    model, tree = watched()
    assert [ref.name for ref in model.nodes["n1"].groups.items] == ["g"]
    assert model.nodes["n1"] is model.nodes["n1"]
    assert model.groups["g"].features[0].feature == "A"
    assert model.nodes.get("nobody") is None
    assert tree.reads == ["nodes/n1.yaml", "groups/g.yaml"]


def test_whether_one_could_be_understood_reads_that_one() -> None:
    model, tree = watched()
    assert {"g", "nobody"} & model.unread.get("groups", frozenset()) == frozenset()
    assert tree.reads == ["groups/g.yaml"]
    assert "n2" in model.unread["nodes"]
    assert "nodes/n1.yaml" not in tree.reads


def test_what_is_unread_is_complete() -> None:
    model, _ = watched()
    unread = {"parameters": {"Q"}, "features": {"C"}, "nodes": {"n2"}}
    assert {kind: set(names) for kind, names in model.unread.items()} == unread
    assert model.unread == unread
    assert not load(DictTree({"gitcfg.yaml": "format: 1\n"})).unread


def test_findings_are_complete_and_in_one_order_whenever_they_are_asked_for() -> None:
    model, _ = watched()
    late, _ = watched()
    assert [late.features["C"], list(late.overrides.values()), late.nodes["n2"]]
    codes = [finding.code for finding in model.findings]
    assert codes == ["GC103", "GC103", "GC101", "GC102", "GC102", "GC103", "GC103", "GC103", "GC103"]
    assert model.findings == late.findings == tuple(late.findings)
    assert model.findings[-1] == late.findings[len(late.findings) - 1]
    assert model.findings != late.findings[1:]


def test_findings_so_far_are_about_names_and_what_was_read() -> None:
    model, tree = watched()
    names = [("GC103", ("n 3",)), ("GC103", ("G", "g"))]
    assert [(finding.code, finding.subjects) for finding in findings_so_far(model)] == names
    assert tree.reads == []
    assert model.nodes["n1"].name == "n1"
    assert [finding.origins[0].file for finding in findings_so_far(model)] == [
        "nodes/n 3.yaml",
        "nodes/n1.yaml",
        "groups/g.yaml",
    ]
    whole = load(DictTree(FILES))
    assert set(findings_so_far(model)) < set(whole.findings) == set(findings_so_far(whole))


def test_findings_of_a_model_made_otherwise_are_asked_for_alike() -> None:
    found = load(DictTree(FILES)).findings
    model = Model(Settings(Origin("gitcfg.yaml")), findings=tuple(found))
    assert findings_so_far(model) == tuple(found)


def test_members_of_sets_know_the_nodes_files_by_name_alone() -> None:
    model, tree = watched()
    assert model.nodesets["s"].members == ("m1", "m2", "m3", "N1")
    assert model.nodesets["t"].members == ()
    assert tree.reads == ["nodesets/s.yaml", "nodesets/t.yaml"]


def test_from_a_pack_one_node_is_unpacked_without_the_others() -> None:
    keeper = Dictionary()
    said(load(DictTree(FILES), keeper))
    model, tree = watched(keeper)
    assert model.nodes["n2"].params == {}
    assert model.parameters["P"].description == "d"
    assert "n1" not in vars(model.nodes)["_known"]
    assert tree.reads == []


def test_nodes_alone_read_no_other_kind() -> None:
    tree = Watched(FILES)
    model = load_nodes_only(tree)
    assert len(list(model.nodes.values())) == 2
    assert len(list(model.nodesets.values())) == 2
    assert {path.partition("/")[0] for path in tree.reads} == {"gitcfg.yaml", "nodes", "nodesets"}
