"""The picture of features: every edge once, what is missing, what nobody has, and some of it only."""

import pytest

from gitcfg.pictures.features import features_picture
from gitcfg.pictures.picture import Kind
from tests.pictures.fleets import edges, features, fleet, vertex

FILES = {
    **features(
        Exec="description: Runs jobs.\ninclude: [Base]\ndepends: [Base, Gone]\nafter: [Manager]",
        Base="description: Anything.",
        Manager="conflicts: [Exec, Exec]",
        Startd='include: [{feature: Slot, as: "S_[1-9]"}, {feature: Slot, as: T}]',
        Slot="conflicts: [Slot]",
    ),
    "features/more/Odd.yaml": "conflicts: [Manager]\n",
    "features/more/deep/Deep.yaml": "include: [Odd]\n",
    "nodesets/s.yaml": "nodes: n[1-3]\nfeatures: [Exec]\nwithout: [Nowhere]\n",
}


def test_every_edge_is_drawn_once() -> None:
    assert edges(features_picture(fleet(FILES))) == {
        ("includes", "feature Exec", "feature Base", ""),
        ("depends", "feature Exec", "feature Base", ""),
        ("depends", "feature Exec", "feature Gone", ""),
        ("after", "feature Exec", "feature Manager", ""),
        ("conflicts", "feature Manager", "feature Exec", ""),
        ("conflicts", "feature Odd", "feature Manager", ""),
        ("conflicts", "feature Slot", "feature Slot", ""),
        ("includes", "feature Startd", "feature Slot", "as S_[1-9],T"),
        ("includes", "feature Deep", "feature Odd", ""),
    }


def test_a_mutual_conflict_is_one_edge() -> None:
    both = features(A="conflicts: [B]", B="conflicts: [A]")
    assert edges(features_picture(fleet(both))) == {("conflicts", "feature A", "feature B", "")}


def test_what_is_mentioned_and_not_defined_is_missing() -> None:
    picture = features_picture(fleet(FILES))
    missing = [each for each in picture.vertices if each.kind is Kind.MISSING]
    assert [each.name for each in missing] == ["Gone", "Nowhere"]
    assert missing[0].about == "Not defined. Used at features/Exec.yaml:3:17."
    assert missing[1].about == "Not defined. Used at nodesets/s.yaml:3:11."
    assert not missing[0].unused


def test_features_may_be_mentioned_anywhere() -> None:
    override = "nodes: n\nreason: r\nuntil: 2030-01-01\n"
    files = {
        "features/F.yaml": "include: [M1]\nconflicts: [M2]\nafter: [M3]\n",
        "groups/g.yaml": "features: [M4]\n",
        "nodes/n.yaml": "features: [M5]\nwithout: [M6]\n",
        "overrides/o.yaml": f"{override}features: [M7]\nwithout: [M8]\n",
        "subsystems/s.yaml": "subsystems: {s: {description: s, features: [M9]}}\n",
    }
    missing = [each.name for each in features_picture(fleet(files)).vertices if each.kind is Kind.MISSING]
    assert missing == [f"M{n}" for n in range(1, 10)]


def test_features_tell_how_many_nodes_have_them() -> None:
    picture = features_picture(fleet(FILES))
    exec_, odd = vertex(picture, "feature Exec"), vertex(picture, "feature Odd")
    assert (exec_.count, exec_.lines, exec_.unused) == (3, ("3 nodes",), False)
    assert (odd.count, odd.lines, odd.unused) == (0, ("no node",), True)
    assert exec_.about == "Runs jobs.\nfeatures/Exec.yaml"


def test_folders_are_told_where_there_are_several() -> None:
    picture = features_picture(fleet(FILES))
    folders = {each.name: each.folder for each in picture.vertices if each.folder}
    assert folders == {"Odd": "more", "Deep": "more/deep"}
    alone = {"features/only/A.yaml": "include: [B]\n", "features/only/B.yaml": "description: b\n"}
    assert {each.folder for each in features_picture(fleet(alone)).vertices} == {""}


CHAIN = features(
    Top="include: [Middle]",
    Middle="depends: [Low]",
    Low="after: [Lowest]",
    Lowest="description: x",
    Beside="conflicts: [Middle]",
    Enemy="conflicts: [Low]",
    Highest="include: [Top]",
    Other="include: [Low]",
)


def test_some_features_come_with_all_they_lead_to_and_their_neighbours() -> None:
    picture = features_picture(fleet(CHAIN), ["Middle"])
    assert {each.name for each in picture.vertices} == {"Top", "Middle", "Low", "Lowest", "Beside"}
    assert edges(picture) == {
        ("includes", "feature Top", "feature Middle", ""),
        ("depends", "feature Middle", "feature Low", ""),
        ("after", "feature Low", "feature Lowest", ""),
        ("conflicts", "feature Beside", "feature Middle", ""),
    }
    assert picture.title == "Features: Middle"
    assert "Other features are not drawn" in picture.notes[0]


def test_a_circle_is_drawn_as_it_is() -> None:
    circle = features(A="include: [B]", B="include: [C]", C="include: [A]\ndepends: [C]")
    expected = {
        ("includes", "feature A", "feature B", ""),
        ("includes", "feature B", "feature C", ""),
        ("includes", "feature C", "feature A", ""),
        ("depends", "feature C", "feature C", ""),
    }
    assert edges(features_picture(fleet(circle))) == expected
    assert edges(features_picture(fleet(circle), ["B"])) == expected


def test_a_missing_feature_can_be_asked_for_and_an_unknown_one_not() -> None:
    picture = features_picture(fleet(FILES), ["Gone"])
    assert {each.name for each in picture.vertices} == {"Gone", "Exec"}
    with pytest.raises(KeyError):
        features_picture(fleet(FILES), ["Unknown"])


def test_without_any_node_no_feature_is_grey() -> None:
    alone = vertex(features_picture(fleet(features(A="description: a"))), "feature A")
    assert (alone.lines, alone.unused, alone.count) == ((), False, 0)
