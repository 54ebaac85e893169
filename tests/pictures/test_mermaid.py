"""Mermaid: what is written reads back, its names mean nothing to Mermaid, and its texts are only texts."""

import pytest
from hypothesis import given

from gitcfg.generate import Options, repository
from gitcfg.model.text import safe
from gitcfg.pictures.features import features_picture, groups_picture
from gitcfg.pictures.mermaid import MOST_EDGES, MOST_TEXT, mermaid, too_large
from gitcfg.pictures.node import node_picture
from gitcfg.pictures.picture import Edge, Kind, Picture, Relation, Vertex, label
from tests.pictures.fleets import fleet
from tests.pictures.hostile import HOSTILE, hostile_texts, picture_of
from tests.pictures.reading import read_mermaid
from tests.properties.runs import QUICK

FIRST_WORDS = {"feature", "features", "group", "nodes", "retired", "rest", "layer", "note"}
"""Names begin with one of these, and none of them is a word of Mermaid's language."""


def judged(picture: Picture) -> None:
    labels, edges = read_mermaid(mermaid(picture))
    assert {name.partition("_")[0] for name in labels} <= FIRST_WORDS
    labels.pop("note", None)
    assert list(labels.values()) == [[*map(safe, label(each))] for each in _in_order(picture)]
    assert edges.total() == len(picture.edges)


def _in_order(picture: Picture) -> list[Vertex]:
    return sorted(picture.vertices, key=lambda each: each.folder)


def test_a_picture_in_mermaid() -> None:
    vertices = (
        Vertex(id="feature A b", kind=Kind.FEATURE, name="A b", lines=("1 node",), folder="f"),
        Vertex(id="feature A-b", kind=Kind.GONE, name="A-b", unused=True),
        Vertex(id="feature end", kind=Kind.MISSING, name="end"),
    )
    edges = (
        Edge(Relation.AFTER, "feature A b", "feature A-b"),
        Edge(Relation.CONFLICTS, "feature A b", "feature end", '"'),
    )
    assert mermaid(Picture("features", 'T"', vertices, edges)).splitlines() == [
        "---",
        'title: "T\\""',
        "---",
        "flowchart LR",
        '  feature_A_b_2["A-b"]:::unused',
        '  feature_end["end"]:::missing',
        '  subgraph folder_f["f"]',
        '    feature_A_b["A b<br>1 node"]:::feature',
        "  end",
        "  style folder_f fill:none,stroke:#b8bfc6",
        '  note["dotted: becomes active after, red: conflicts with, grey: no node has it"]:::note',
        "  feature_A_b -.-> feature_A_b_2",
        '  feature_A_b ---|"#34;"| feature_end',
        "  classDef feature fill:#e7f0fa,stroke:#39699c,color:#1b1f24",
        "  classDef missing fill:#ffffff,stroke:#c62828,color:#a31d1d,stroke-dasharray:4 3",
        "  classDef unused fill:#f2f2f2,stroke:#a5a5a5,color:#666666",
        "  classDef note fill:#ffffff,stroke:#b8bfc6,color:#57606a",
        "  linkStyle 0 stroke:#66727e,stroke-dasharray:1 4",
        "  linkStyle 1 stroke:#d93a3a",
    ]


@pytest.mark.parametrize("seed", range(3))
def test_pictures_read_back(seed: int) -> None:
    made = fleet(repository(Options(seed=seed, nodes=60, groups=12, memberships=3)))
    for picture in (features_picture(made), groups_picture(made), node_picture(made, made.names[0])):
        judged(picture)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_only_a_text(name: str) -> None:
    judged(picture_of(name))


@QUICK
@given(hostile_texts())
def test_any_text_is_read_back(name: str) -> None:
    judged(picture_of(name))


def test_what_markdown_takes_for_a_list_is_none() -> None:
    assert '"1#46; a<br>2#46; b"' in mermaid(
        Picture("groups", "", (Vertex(id="g", kind=Kind.FEATURES, name="1. a", lines=("2. b",)),), ())
    )


def test_the_same_files_make_the_same_bytes() -> None:
    files = repository(Options(seed=5))
    backwards = dict(reversed(list(files.items())))
    for make in (features_picture, groups_picture):
        assert mermaid(make(fleet(files))) == mermaid(make(fleet(backwards)))


def test_what_mermaid_refuses_is_known() -> None:
    edges = (Edge(Relation.ABOVE, "feature a", "feature b"),)
    assert not too_large(Picture("features", "", (), edges * MOST_EDGES), "")
    assert too_large(Picture("features", "", (), edges * (MOST_EDGES + 1)), "")
    assert too_large(Picture("features", "", (), ()), "x" * (MOST_TEXT + 1))
