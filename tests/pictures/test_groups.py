"""The picture of groups: their features, their nodes folded, and how it stays of a size to look at."""

from gitcfg.nodeset import expand
from gitcfg.pictures.features import MOST, MOST_PAIRS, groups_picture
from gitcfg.pictures.picture import Kind, Picture, Relation
from tests.pictures.fleets import edges, features, fleet, vertex

FILES = {
    **features(A="description: a", B="description: b", C="description: c"),
    "groups/default.yaml": "description: Everyone.\nfeatures: [A]\n",
    "groups/one.yaml": 'features: [B, {feature: C, as: "x[1-3]"}, Gone]\n',
    "groups/two.yaml": 'features: [B, {feature: C, as: "x[1-3]"}, Gone]\n',
    "groups/bare.yaml": "params: {P: 1}\n",
    "groups/idle.yaml": "features: [A]\n",
    "nodesets/s.yaml": "nodes: n[1-5]\ngroups: [one, two]\n",
    "nodes/m1.yaml": "groups: [two, one]\n",
    "nodes/m2.yaml": "groups: [two, nosuch]\n",
    "nodes/m3.yaml": "params: {P: 2}\n",
    "nodes/m4.yaml": "groups: [bare]\nstate: retired\n",
}


def counts(picture: Picture) -> dict[str, int | None]:
    """The nodes that vertices of nodes stand for."""
    found = (each for each in picture.vertices if each.kind in (Kind.NODES, Kind.REST))
    return {each.id: each.count for each in found}


def test_nodes_with_the_same_groups_are_one_vertex() -> None:
    picture = groups_picture(fleet(FILES))
    assert counts(picture) == {
        "nodes in one > two > default": 5,
        "retired in bare > default": 1,
        "nodes in default": 1,
        "nodes in two > nosuch > default": 1,
        "nodes in two > one > default": 1,
    }
    five = vertex(picture, "nodes in one > two > default")
    assert (five.name, five.lines, five.nodeset) == ("5 nodes", ("n[1-5]",), "n[1-5]")
    assert five.about == "n[1-5]\nGroups, highest priority first: one, two, default"
    assert vertex(picture, "retired in bare > default").name == "1 node, retired"


def test_lines_to_groups_are_numbered_and_to_the_default_group_from_nodes_in_no_other() -> None:
    members = {edge[1:] for edge in edges(groups_picture(fleet(FILES))) if edge[0] == "member"}
    assert members == {
        ("nodes in one > two > default", "group one", "1."),
        ("nodes in one > two > default", "group two", "2."),
        ("nodes in two > one > default", "group two", "1."),
        ("nodes in two > one > default", "group one", "2."),
        ("nodes in two > nosuch > default", "group two", "1."),
        ("nodes in two > nosuch > default", "group nosuch", "2."),
        ("nodes in default", "group default", ""),
        ("retired in bare > default", "group bare", ""),
    }


def test_equal_lists_of_features_are_one_vertex() -> None:
    picture = groups_picture(fleet(FILES))
    lists = [each for each in picture.vertices if each.kind is Kind.FEATURES]
    assert [(each.name, *each.lines) for each in lists] == [
        ("1. A",),
        ("1. B", "2. C as x[1-3]", "3. Gone (missing)"),
    ]
    assert {edge[1:] for edge in edges(picture) if edge[0] == "installs"} == {
        ("group default", "features of default", ""),
        ("group idle", "features of default", ""),
        ("group one", "features of one", ""),
        ("group two", "features of one", ""),
    }


def test_lists_that_differ_in_an_attribute_are_two() -> None:
    files = {
        **features(C='params: {"P_${as}": "${with.n}"}'),
        "groups/one.yaml": "features: [{feature: C, as: x, with: {n: 1}}]\n",
        "groups/two.yaml": "features: [{feature: C, as: x, with: {n: 2}}]\n",
    }
    assert len([each for each in groups_picture(fleet(files)).vertices if each.kind is Kind.FEATURES]) == 2


def test_groups_tell_their_nodes_and_whether_they_exist() -> None:
    picture = groups_picture(fleet(FILES))
    assert vertex(picture, "group default").lines == ("all 9 nodes",)
    assert vertex(picture, "group default").about == "Everyone.\ngroups/default.yaml\nm[1-4],n[1-5]"
    assert vertex(picture, "group two").count == 7
    idle, missing = vertex(picture, "group idle"), vertex(picture, "group nosuch")
    assert (idle.lines, idle.unused) == (("no node",), True)
    assert (missing.kind, missing.count, missing.unused) == (Kind.MISSING, 1, False)


def test_the_default_group_needs_no_file() -> None:
    picture = groups_picture(fleet({"nodes/n.yaml": "groups: []\n"}))
    assert [each.id for each in picture.vertices] == ["nodes in default", "group default"]
    assert vertex(picture, "group default").about == "No file defines it.\nn"


def test_some_groups_come_with_their_nodes_and_features_only() -> None:
    picture = groups_picture(fleet(FILES), ["one"])
    assert {each.id for each in picture.vertices} == {
        "nodes in one > two > default",
        "nodes in two > one > default",
        "group one",
        "features of one",
    }
    assert vertex(picture, "group one").count == 6
    assert picture.notes == ("Other groups are not drawn.",)
    assert ("member", "nodes in two > one > default", "group one", "2.") in edges(picture)


def test_asked_for_the_default_group_alone_every_node_leads_to_it() -> None:
    picture = groups_picture(fleet(FILES), ["default"])
    assert {edge[2] for edge in edges(picture) if edge[0] == "member"} == {"group default"}
    assert sum(count or 0 for count in counts(picture).values()) == 9


def many(kinds: int, large: int = 0) -> dict[str, str]:
    """Nodes that are each in two groups of their own choice, and one set of alike ones."""
    pairs = [(a, b) for a in range(20) for b in range(20) if a != b][:kinds]
    files = {f"nodes/odd{n:03}.yaml": f"groups: [g{a}, g{b}]\n" for n, (a, b) in enumerate(pairs)}
    files |= {f"groups/g{n}.yaml": "params: {P: 1}\n" for n in range(20)}
    return files | ({"nodesets/s.yaml": f"nodes: alike[1-{large}]\ngroups: [g1]\n"} if large else {})


def test_as_many_combinations_as_there_is_room_for_are_drawn() -> None:
    assert len(counts(groups_picture(fleet(many(MOST))))) == MOST


def test_a_tail_of_small_combinations_is_one_vertex_with_lines_to_its_groups() -> None:
    picture = groups_picture(fleet(many(60, 100)))
    assert counts(picture) == {"nodes in g1 > default": 100, "rest": 60}
    rest = vertex(picture, "rest")
    assert (rest.name, rest.lines[0]) == ("and 60 more combinations of groups", "60 nodes")
    assert rest.nodeset == rest.about == "odd[000-059]"
    some = {edge.target: edge.label for edge in picture.edges if edge.relation is Relation.SOME}
    assert some["group g0"] == "22 nodes"  # 19 that have it first, and one each of the next three
    assert sum(int(label.split()[0]) for label in some.values()) == 120
    assert vertex(picture, "group g1").lines == ("122 nodes",)


def test_where_nearly_all_combinations_are_small_lines_between_groups_stand_for_them() -> None:
    picture = groups_picture(fleet(many(380)))
    assert counts(picture) == {"rest": 380}
    assert vertex(picture, "rest").name == "380 combinations of groups"
    pairs = [edge for edge in picture.edges if edge.relation is Relation.SHARES]
    assert len(pairs) == MOST_PAIRS
    assert {edge.label for edge in pairs} == {"2 nodes"}
    assert picture.notes == ("170 more pairs of groups share the same number of nodes or fewer.",)


def test_a_few_large_combinations_among_many_small_ones_are_folded_too() -> None:
    assert counts(groups_picture(fleet(many(380, 300)))) == {"rest": 680}
    assert len(counts(groups_picture(fleet(many(380, 380))))) == 2


def test_a_long_set_of_nodes_is_short_in_the_label_and_whole_beside_it() -> None:
    picture = groups_picture(fleet(many(380)))
    group = vertex(picture, "group g7")
    assert group.lines == ("38 nodes", "odd[006,025,044,063,082,101,120,…")
    assert group.nodeset is not None
    assert group.about.endswith(group.nodeset)
    assert len(expand(group.nodeset, 100)) == 38
