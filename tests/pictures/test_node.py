"""The picture of a node: its layers in order, what each brings and decides, and what is taken away."""

import pytest

from gitcfg.pictures.node import node_picture
from gitcfg.pictures.picture import Kind
from tests.pictures.fleets import edges, features, fleet, vertex

FILES = {
    **features(
        Base="params: {P: 1, Q: 1}\nfiles: {/etc/b: {text: b}, /etc/c: {text: c}}",
        Exec="include: [Base, Slot]\nparams: {P: 2}",
        Slot="params: {R: 1}",
        Gpu="include: [Slot]\nparams: {S: 1}",
        Top="params: {T: 1}",
    ),
    "groups/default.yaml": "features: [Base]\nparams: {D: 1}\n",
    "groups/low.yaml": "features: [Gpu, Gone, Exec]\nparams: {L: {$append: [1]}, Q: 2}\n",
    "groups/high.yaml": "description: High.\nparams: {L: {$append: [2]}}\n",
    "nodesets/s.yaml": "nodes: n[1-2]\ngroups: [high, low]\nfeatures: [Top]\nparams: {U: 1}\n",
    "nodes/n1.yaml": "without: [Gpu]\nparams: {U: 2, V: 1}\nfiles: {/etc/b: null}\n",
    "overrides/o.yaml": "nodes: n1\nreason: A test.\nuntil: 2030-01-01\nparams: {D: {$default: 5}, W: 1}\n",
}


def test_layers_lie_on_each_other_in_the_order_of_semantics() -> None:
    picture = node_picture(fleet(FILES), "n1")
    assert picture.stack == (
        "layer 1 group default",
        "layer 2 group low",
        "layer 3 group high",
        "layer 4 node set s",
        "layer 5 node n1",
        "layer 6 override o",
    )
    above = [(edge.source[:7], edge.target[:7]) for edge in picture.edges if edge.relation.value == "above"]
    assert above == [(f"layer {n + 1}", f"layer {n}") for n in range(1, 6)]


def test_each_layer_tells_what_it_decides() -> None:
    picture = node_picture(fleet(FILES), "n1")
    told = {each.name: each.lines for each in picture.vertices if each.kind is Kind.LAYER}
    assert told == {
        "group default": ("decides 1 parameter", "itself 1 parameter"),
        "group low": ("decides 3 parameters, 1 file", "itself 1 parameter"),
        "group high": ("decides 1 parameter",),
        "node set s": ("decides 1 parameter",),
        "node n1": ("decides 2 parameters",),
        "override o": ("decides 1 parameter",),
    }
    assert vertex(picture, "layer 2 feature Exec").lines == ("1 parameter",)
    assert vertex(picture, "layer 2 feature Base").lines == ("1 file",)
    assert vertex(picture, "layer 1 feature Base").lines == ()
    assert picture.notes[0].startswith("The node gets 9 parameters, 1 file.")


def test_features_hang_on_their_layers_in_order() -> None:
    found = {edge for edge in edges(node_picture(fleet(FILES), "n1")) if edge[0] != "above"}
    assert found == {
        ("installs", "layer 1 group default", "layer 1 feature Base", ""),
        ("installs", "layer 2 group low", "layer 2 feature Gpu", "1."),
        ("installs", "layer 2 group low", "layer 2 feature Gone", "2."),
        ("installs", "layer 2 group low", "layer 2 feature Exec", "3."),
        ("includes", "layer 2 feature Exec", "layer 2 feature Base", "1."),
        ("includes", "layer 2 feature Exec", "layer 2 feature Slot", "2."),
        ("installs", "layer 4 node set s", "layer 4 feature Top", ""),
    }


def test_what_is_taken_away_or_missing_is_drawn_as_such() -> None:
    picture = node_picture(fleet(FILES), "n1")
    gone, missing = vertex(picture, "layer 2 feature Gpu"), vertex(picture, "layer 2 feature Gone")
    assert (gone.kind, gone.lines) == (Kind.GONE, ("removed",))
    assert gone.about == "features/Gpu.yaml\n`without` at nodes/n1.yaml:1:11 removes it."
    assert (missing.kind, missing.about) == (Kind.MISSING, "Not defined.")
    assert vertex(node_picture(fleet(FILES), "n2"), "layer 2 feature Gpu").kind is Kind.FEATURE


def test_descriptions_are_beside_the_layers() -> None:
    picture = node_picture(fleet(FILES), "n1")
    assert vertex(picture, "layer 3 group high").about == "High.\ngroups/high.yaml"
    assert vertex(picture, "layer 6 override o").about == "A test., until 2030-01-01\noverrides/o.yaml"


def test_lists_that_are_composed_lie_as_they_are_composed() -> None:
    files = {
        **FILES,
        "nodes/n2.yaml": "features: {$append: [Slot, Slot2]}\nparams: {V: 1}\n",
        **features(Slot2="params: {X: 1}"),
    }
    picture = node_picture(fleet(files), "n2")
    names = [vertex(picture, id_).name for id_ in picture.stack[3:]]
    assert names == ["node n2", "node set s", "node n2"]
    assert ("installs", picture.stack[3], "layer 4 feature Slot", "1.") in edges(picture)
    assert ("installs", picture.stack[3], "layer 4 feature Slot2", "2.") in edges(picture)
    assert vertex(picture, picture.stack[5]).lines == ("decides 1 parameter",)


def test_instances_are_named_and_drawn_once() -> None:
    files = {
        **features(Startd='params: {"P_${as}": 1}', Outer='include: [{feature: Startd, as: "${as}-[1-2]"}]'),
        "groups/default.yaml": 'features: [{feature: Startd, as: "S_[1-90]"}, {feature: Outer, as: O}]\n',
        "nodes/n.yaml": "groups: []\n",
    }
    picture = node_picture(fleet(files), "n")
    assert ("installs", "layer 1 group default", "layer 1 feature Startd", "1. as S_[1-90]") in edges(picture)
    assert vertex(picture, "layer 1 feature Startd").lines == ("92 parameters",)


def test_a_circle_of_includes_is_drawn_as_it_is() -> None:
    files = {
        **features(A="include: [B]", B="include: [A]\nparams: {P: 1}"),
        "nodes/n.yaml": "features: [A]\n",
    }
    assert edges(node_picture(fleet(files), "n")) == {
        ("above", "layer 2 node n", "layer 1 group default", ""),
        ("installs", "layer 2 node n", "layer 2 feature A", ""),
        ("includes", "layer 2 feature A", "layer 2 feature B", ""),
        ("includes", "layer 2 feature B", "layer 2 feature A", ""),
    }


def test_includes_that_are_too_deep_bring_nothing() -> None:
    chain = {f"F{n}": f"include: [F{n + 1}]\nparams: {{P{n}: 1}}" for n in range(110)}
    files = {**features(**chain, F110="params: {P: 1}"), "nodes/n.yaml": "features: [F0]\n"}
    top = vertex(node_picture(fleet(files), "n"), "layer 2 feature F0")
    assert (top.kind, top.lines) == (Kind.GONE, ("adds nothing",))


def test_a_retired_node_has_no_layers() -> None:
    files = {"nodes/n.yaml": "state: retired\ngroups: [g]\n", "groups/g.yaml": "params: {P: 1}\n"}
    override = "nodes: n\nreason: r\nuntil: 2030-01-01\nparams: {P: 2}\n"
    picture = node_picture(fleet({**files, "overrides/o.yaml": override}), "n")
    assert (picture.vertices, picture.edges, picture.stack) == ((), (), ())
    assert picture.notes == ("It is retired: it has no features, no parameters and no files.",)


def test_there_is_no_picture_of_an_unknown_node() -> None:
    with pytest.raises(KeyError):
        node_picture(fleet(FILES), "n3")
