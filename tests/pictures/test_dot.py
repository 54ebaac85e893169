"""dot: what gitcfg writes is what Graphviz reads, and nothing in a name can be more than a name."""

import pytest
from hypothesis import given

from gitcfg.generate import Options, repository
from gitcfg.model.text import safe
from gitcfg.pictures.dot import PIECE, dot
from gitcfg.pictures.features import features_picture, groups_picture
from gitcfg.pictures.mermaid import mermaid
from gitcfg.pictures.node import node_picture
from gitcfg.pictures.picture import Edge, Kind, Picture, Relation, Vertex, about, label
from tests.pictures.fleets import fleet
from tests.pictures.hostile import HOSTILE, hostile_texts, picture_of, repository_of
from tests.pictures.reading import (
    graphviz,
    meant,
    needs_dot,
    read_dot,
    read_mermaid,
    read_svg,
    shown,
    tooltips,
)
from tests.properties.runs import QUICK

TWO = Picture(
    "features",
    "Two",
    (
        Vertex(id="feature A", kind=Kind.FEATURE, name="A", lines=("1 node",), about="One.\ntwo", folder="f"),
        Vertex(id="feature B", kind=Kind.MISSING, name="B"),
    ),
    (
        Edge(Relation.CONFLICTS, "feature A", "feature B"),
        Edge(Relation.AFTER, "feature A", "feature B", "x"),
    ),
)


def test_a_picture_in_dot() -> None:
    lines = [line.strip() for line in dot(TWO).splitlines()]
    assert lines[0] == 'digraph "Two" {'
    assert 'subgraph "cluster f" {' in lines
    looks = 'fillcolor="#e7f0fa", color="#39699c", fontcolor="#1b1f24"'
    assert f'"feature A" [label="A\\n1 node\\n", tooltip="One.\\ntwo", {looks}]' in lines
    assert '"feature A" -> "feature B" [color="#d93a3a", dir=none]' in lines
    assert any(line.endswith('style=dotted, penwidth=1.7, label="x\\n"]') for line in lines)
    assert any("dotted: becomes active after, red: conflicts with" in line for line in lines)


SHAPES = {
    "usual": Options(seed=1),
    "deep": Options(seed=2, nodes=4, features=20, include_depth=6, include_fanout=3),
    "many": Options(seed=3, nodes=120, groups=20, memberships=4, sets=0),
}


@needs_dot
@pytest.mark.parametrize("shape", SHAPES)
def test_graphviz_reads_what_is_meant(shape: str) -> None:
    made = fleet(repository(SHAPES[shape]))
    for picture in (features_picture(made), groups_picture(made), node_picture(made, made.names[0])):
        text = dot(picture)
        assert read_dot(text) == meant(picture)
        root = read_svg(graphviz(text, "svg"))
        lines = shown(root)
        assert not [line for each in picture.vertices for line in label(each) if line not in lines]
        assert not [edge.label for edge in picture.edges if edge.label and edge.label not in lines]


@needs_dot
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_only_a_text(name: str) -> None:
    picture = picture_of(name)
    assert read_dot(dot(picture)) == meant(picture)
    root = read_svg(graphviz(dot(picture), "svg"))
    assert set(label(picture.vertices[0])) <= {*shown(root), ""}
    assert tooltips(root) >= {"\n".join(map(safe, about(picture.vertices[0]).split("\n")))}


@needs_dot
@pytest.mark.parametrize("text", HOSTILE)
def test_a_repository_of_hostile_texts_is_drawn(text: str) -> None:
    made = fleet(repository_of(text))
    for picture in (features_picture(made), groups_picture(made), node_picture(made, "n")):
        assert read_dot(dot(picture)) == meant(picture)
        read_svg(graphviz(dot(picture), "svg"))
        labels, _ = read_mermaid(mermaid(picture))
        assert len({*labels} - {"note"}) == len({vertex.id for vertex in picture.vertices})


@needs_dot
@QUICK
@given(hostile_texts())
def test_any_text_is_read_back(name: str) -> None:
    picture = picture_of(name)
    assert read_dot(dot(picture)) == meant(picture)
    read_svg(graphviz(dot(picture), "svg"))


@needs_dot
@pytest.mark.parametrize("size", [PIECE - 1, PIECE, 5 * PIECE, 60_000])
@pytest.mark.parametrize("sign", ["n", "\\", '"', "é", "&"])
def test_long_texts_are_read_whole(sign: str, size: int) -> None:
    picture = picture_of(sign * (size // len(sign)))
    assert read_dot(dot(picture)) == meant(picture)


def test_the_same_files_make_the_same_bytes() -> None:
    files = repository(SHAPES["usual"])
    backwards = dict(reversed(list(files.items())))
    for make in (features_picture, groups_picture):
        assert dot(make(fleet(files))) == dot(make(fleet(backwards)))
