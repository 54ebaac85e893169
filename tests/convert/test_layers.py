"""Features, groups, nodes and subsystems, and the names they have."""

import hashlib
from datetime import date

from gitcfg.compile.fleet import compile_tree
from gitcfg.convert.wallaby.repository import import_wallaby
from gitcfg.git.tree import DictTree
from tests.convert.dumps import DEFAULT, dump, feature, group, node, parameter, read, said, subsystem

TODAY = date(2026, 1, 1)
FILES = {"/etc/condor/config.d/50-gitcfg.config": {"format": "condor", "params": ["*"]}}


def own(name: str) -> str:
    return "+++" + hashlib.md5(name.encode()).hexdigest()


def test_an_empty_store_is_a_repository_that_writes_a_file() -> None:
    imported = import_wallaby(dump())
    assert read(imported) == {"gitcfg.yaml": {"format": 1}, "groups/default.yaml": {"files": FILES}}
    assert imported.notes == ()


def test_a_feature() -> None:
    lists = {"included": ["B", "C"], "depends": ["D"], "conflicts": ["E"]}
    imported = import_wallaby(dump([feature("A", annotation="What it is.", **lists)]))
    assert read(imported)["features/A.yaml"] == {
        "description": "What it is.",
        "include": ["B", "C"],
        "depends": ["D"],
        "conflicts": ["E"],
    }


def test_the_default_group_writes_the_file() -> None:
    groups = [group(DEFAULT, annotation="All.", features=["A", "B"], params={"P": "v"})]
    imported = import_wallaby(dump(groups=groups, params=[parameter("P")]))
    assert read(imported)["groups/default.yaml"] == {
        "description": "All.",
        "features": ["A", "B"],
        "params": {"P": "v"},
        "files": FILES,
    }


def test_an_identity_group_is_the_nodes_own_layer() -> None:
    groups = [group("G"), group(own("n1"), is_identity_group=True, features=["A"], params={"P": "v"})]
    nodes = [node("n1", membership=["G", "H"], annotation="A machine.")]
    imported = import_wallaby(dump(groups=groups, nodes=nodes, params=[parameter("P")]))
    files = read(imported)
    assert sorted(files) == [
        "gitcfg.yaml",
        "groups/G.yaml",
        "groups/default.yaml",
        "nodes/n1.yaml",
        "parameters/condor.yaml",
    ]
    assert files["nodes/n1.yaml"] == {
        "description": "A machine.",
        "groups": ["G", "H"],
        "features": ["A"],
        "params": {"P": "v"},
    }
    assert imported.notes == ()


def test_a_node_may_name_its_identity_group() -> None:
    groups = [group("+++mine", is_identity_group=True, features=["A"])]
    imported = import_wallaby(dump(groups=groups, nodes=[node("n1", idgroup="+++mine")]))
    assert read(imported)["nodes/n1.yaml"] == {"features": ["A"]}


def test_a_node_that_only_checked_in_is_labelled() -> None:
    imported = import_wallaby(dump(nodes=[node("n1", provisioned=False)]))
    assert read(imported)["nodes/n1.yaml"] == {"labels": ["unprovisioned"]}
    assert said(imported) == ["look node n1 provisioned"]


def test_the_identity_of_nobody_is_noted_with_what_it_holds() -> None:
    groups = [group(own("gone"), is_identity_group=True, features=["A"], params={"P": "v"})]
    imported = import_wallaby(dump(groups=groups, params=[parameter("P")]))
    [note] = imported.notes
    assert (note.weight, note.kind, note.name) == ("dropped", "group", own("gone"))
    assert "A, P" in note.reason


def test_an_empty_skeleton_is_left_out() -> None:
    imported = import_wallaby(dump(groups=[group("+++SKEL")]))
    assert "groups/skeleton.yaml" not in imported.files
    assert said(imported) == ["dropped group +++SKEL"]


def test_a_skeleton_that_says_something_is_a_group() -> None:
    groups = [group("+++SKEL", features=["A"])]
    imported = import_wallaby(dump(groups=groups, nodes=[node("n1", membership=["+++SKEL"])]))
    assert read(imported)["groups/skeleton.yaml"] == {"features": ["A"]}
    assert read(imported)["nodes/n1.yaml"] == {"groups": ["skeleton"]}
    assert said(imported) == ["changed group +++SKEL name"]


def test_memberships_that_a_node_has_anyway_are_noted() -> None:
    groups = [group(DEFAULT), group(own("n1"), is_identity_group=True), group("G")]
    nodes = [node("n1", membership=["G", own("n1"), "G", DEFAULT])]
    imported = import_wallaby(dump(groups=groups, nodes=nodes))
    assert read(imported)["nodes/n1.yaml"] == {"groups": ["G"]}
    assert said(imported) == ["dropped node n1 membership"] * 3


def test_somebody_elses_identity_is_no_group() -> None:
    groups = [group(own("n1"), is_identity_group=True)]
    imported = import_wallaby(dump(groups=groups, nodes=[node("n1"), node("n2", membership=[own("n1")])]))
    assert read(imported)["nodes/n2.yaml"] == {}
    assert said(imported) == ["dropped node n2 membership"]


def test_names_that_are_not_legal_are_changed_everywhere() -> None:
    features = [feature("a/b"), feature("a_b"), feature("C", included=["a/b"], depends=["a_b"])]
    groups = [group("+++G", features=["a/b"]), group("Default")]
    nodes = [node("n1", membership=["Default", "+++G"])]
    imported = import_wallaby(dump(features, groups, nodes, subsystems=[subsystem("s/t", "P")]))
    files = read(imported)
    assert files["features/C.yaml"] == {"include": ["a_b-2"], "depends": ["a_b"]}
    assert files["groups/_++G.yaml"] == {"features": ["a_b-2"]}
    assert files["nodes/n1.yaml"] == {"groups": ["Default-2", "_++G"]}
    assert files["subsystems/condor.yaml"] == {"subsystems": {"s_t": {"params": ["P"]}}}
    assert said(imported) == [
        "changed feature a/b name",
        "changed group +++G name",
        "changed group Default name",
        "changed subsystem s/t name",
        "look subsystem",
    ]


def test_blanks_around_names_are_taken_away_and_told_once() -> None:
    features = [
        feature("A", params={"P ": "v", " Q\t": "w"}, included=["B "]),
        feature("B ", params={"P ": "x", "P": "y"}),
    ]
    imported = import_wallaby(dump(features, params=[parameter("P ", depends=["Q "]), parameter("Q")]))
    files = read(imported)
    assert files["features/A.yaml"] == {"include": ["B"], "params": {"P": "v", "Q": "w"}}
    assert files["features/B.yaml"] == {"params": {"P": "y"}}
    assert files["parameters/condor.yaml"]["parameters"]["P"] == {"description": "It is.", "depends": ["Q"]}
    assert said(imported) == [
        "dropped feature B params.P",
        *("changed feature A included", "changed feature A params.P", "changed feature A params.Q"),
        *("changed feature B name", "changed parameter P depends", "changed parameter P name"),
    ]
    assert len({note.reason for note in imported.notes if note.weight == "changed"}) == 1


def test_names_that_differ_in_case_are_kept_apart() -> None:
    imported = import_wallaby(dump([feature("A"), feature("a"), feature("a-2"), feature("Á")]))
    features = [path for path in imported.files if path.startswith("features/")]
    assert len({path.casefold() for path in features}) == 4
    assert features == sorted(
        ["features/A.yaml", "features/a-2.yaml", "features/a-3.yaml", "features/_.yaml"]
    )


def test_a_long_name_is_cut() -> None:
    imported = import_wallaby(dump([feature("A" * 300), feature("A" * 301)]))
    assert {len(path) for path in imported.files if path.startswith("features/")} == {214, 216}


def test_what_is_defined_twice_counts_once() -> None:
    twice = dump(
        [feature("A", annotation="1"), feature("A", annotation="2")],
        [group("G"), group("G")],
        [node("n1"), node("N1")],
        [parameter("P"), parameter("p")],
        [subsystem("s", "P"), subsystem("s")],
    )
    imported = import_wallaby(twice)
    assert read(imported)["features/A.yaml"] == {"description": "1"}
    assert said(imported) == [
        "dropped feature A",
        "dropped group G",
        "dropped node N1",
        "dropped parameter p",
        "dropped subsystem s",
        "look subsystem",
    ]


def test_a_node_without_a_host_name_is_noted() -> None:
    groups = [group(own("a_b"), is_identity_group=True, features=["A"])]
    imported = import_wallaby(dump(groups=groups, nodes=[node("a_b")]))
    assert not [path for path in imported.files if path.startswith("nodes/")]
    assert said(imported) == ["dropped node a_b"]


def test_a_list_names_nothing_twice() -> None:
    imported = import_wallaby(dump([feature("A", included=["B", "C", "B"]), feature("B"), feature("C")]))
    assert read(imported)["features/A.yaml"] == {"include": ["B", "C"]}
    assert said(imported) == ["dropped feature A included"]


def test_a_subsystem() -> None:
    process = {**subsystem("startd", "start", "MISSING", "START"), "annotation": "Runs jobs."}
    imported = import_wallaby(dump(params=[parameter("START")], subsystems=[process]))
    assert read(imported)["subsystems/condor.yaml"] == {
        "subsystems": {"startd": {"description": "Runs jobs.", "params": ["START", "MISSING"]}}
    }
    assert said(imported) == ["dropped subsystem startd params", "look subsystem"]


def test_fields_that_nobody_knows_are_noted() -> None:
    features = [feature("A", color="red", size="", shape=[])]
    assert said(import_wallaby(dump(features))) == ["dropped feature A color"]


def test_whatever_the_names_are_the_repository_is_valid() -> None:
    odd = [
        "",
        " a",
        "a ",
        "-x",
        "a\nb",
        "ü",
        "a/b",
        "../a",
        "a" * 400,
        "A",
        "a",
        "yes",
        "null",
        "1.10",
        "${x}",
    ]
    names = [name for name in odd if name]
    imported = import_wallaby(
        dump(
            [feature(name, included=names, params={name: "v"}) for name in names],
            [group(DEFAULT), *(group(name, features=names) for name in [*names, "default", "Skeleton"])],
            [node(name, membership=[*names, "default"]) for name in [*names, "n1"]],
            [parameter(name, depends=names) for name in names],
            [subsystem(name, *names) for name in names],
        )
    )
    assert {finding.code for finding in compile_tree(DictTree(imported.files), TODAY).model.findings} == set()
    assert "nodes/n1.yaml" in imported.files
