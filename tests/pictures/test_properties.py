"""Over random repositories: pictures show all there is, and folding loses no node."""

import re
from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.generate import Options, repository
from gitcfg.model import Model
from gitcfg.nodeset import expand
from gitcfg.pictures.features import features_picture, groups_picture
from gitcfg.pictures.node import node_picture
from gitcfg.pictures.picture import Edge, Kind, Picture, Relation, Vertex
from tests.pictures.fleets import fleet
from tests.properties.runs import DEEP, QUICK
from tests.properties.strategies import Files, valid, wild

Property = Callable[[Fleet], None]


def every_feature_and_edge_is_drawn(made: Fleet) -> None:
    picture = features_picture(made)
    names = {vertex.id: vertex.name for vertex in picture.vertices}
    assert len(names) == len(picture.vertices)
    drawn = [(edge.relation, names[edge.source], names[edge.target]) for edge in picture.edges]
    assert len(drawn) == len(set(drawn))
    assert {_pair(each) for each in drawn} == set(_meant(made.model))
    defined = {vertex.name for vertex in picture.vertices if vertex.kind is Kind.FEATURE}
    assert defined == set(made.model.features)
    for vertex in picture.vertices:
        having = [name for name in made.names if vertex.name in made[name].features]
        assert (vertex.count or 0) == len(having)
        assert vertex.unused == (not having and vertex.kind is Kind.FEATURE)


Said = tuple[Relation, str, str]


def _pair(said: Said) -> Said:
    relation, first, second = said
    return (relation, min(first, second), max(first, second)) if relation is Relation.CONFLICTS else said


def _meant(model: Model) -> list[Said]:
    found = []
    for name, feature in model.features.items():
        found += [(Relation.INCLUDES, name, use.feature) for use in feature.include]
        found += [(Relation.DEPENDS, name, ref.name) for ref in feature.depends]
        found += [(Relation.AFTER, name, ref.name) for ref in feature.after]
        found += [_pair((Relation.CONFLICTS, name, ref.name)) for ref in feature.conflicts]
    return found


def some_features_keep_what_they_lead_to(made: Fleet) -> None:
    whole = features_picture(made)
    for chosen in whole.vertices:
        part = features_picture(made, [chosen.name])
        kept = {vertex.id for vertex in part.vertices}
        onward = {chosen.id}
        while more := {e.target for e in whole.edges if e.source in onward and _leads(e)} - onward:
            onward |= more
        near = {e.source for e in whole.edges if e.target == chosen.id}
        near |= {e.target for e in whole.edges if e.source == chosen.id}
        assert kept == onward | near
        assert set(part.edges) == {e for e in whole.edges if {e.source, e.target} <= kept}


def _leads(edge: Edge) -> bool:
    return edge.relation is not Relation.CONFLICTS


def no_node_is_lost(made: Fleet) -> None:
    picture = groups_picture(made)
    nodes = [vertex for vertex in picture.vertices if vertex.kind in (Kind.NODES, Kind.REST)]
    assert sum(vertex.count or 0 for vertex in nodes) == len(made.names)
    assert Counter(name for vertex in nodes for name in _members(vertex)) == Counter(made.names)


def _members(vertex: Vertex) -> tuple[str, ...]:
    return expand(vertex.nodeset, 100_000) if vertex.nodeset else ()


def groups_have_their_nodes_and_features(made: Fleet) -> None:
    picture, default = groups_picture(made), made.model.settings.default_group
    groups = {v.id: v for v in picture.vertices if v.id.startswith("group ")}
    assert {vertex.name for vertex in groups.values()} >= {default, *made.model.groups}
    for vertex in groups.values():
        having = [name for name in made.names if vertex.name in _groups_of(made, name)]
        assert vertex.count == len(having)
        assert set(_members(vertex)) == set(having)
    for vertex in picture.vertices:
        if vertex.kind is Kind.NODES:
            explicit = [
                ref.name for ref in made[_members(vertex)[0]].definition.groups if ref.name != default
            ]
            lines = [edge for edge in picture.edges if edge.source == vertex.id]
            assert [groups[edge.target].name for edge in lines] == (explicit or [default])
            numbers = [f"{number}." for number in range(1, len(lines) + 1)]
            assert [edge.label for edge in lines] == (numbers if len(lines) > 1 else [""])
    installs = {edge.source: edge.target for edge in picture.edges if edge.relation is Relation.INSTALLS}
    lists = {vertex.id: (vertex.name, *vertex.lines) for vertex in picture.vertices}
    for name, group in made.model.groups.items():
        told = [re.split(r"[ .]+", line)[1] for line in lists.get(installs.get(f"group {name}", ""), ())]
        assert told == list(dict.fromkeys(use.feature for use in group.features))


def _groups_of(made: Fleet, name: str) -> set[str]:
    return {made.model.settings.default_group, *(ref.name for ref in made[name].definition.groups)}


def layers_decide_what_trails_say(made: Fleet) -> None:
    for name in made.names:
        node, picture = made[name], node_picture(made, name)
        assert _decided(picture, "parameter") == _by_trail(node)
        assert sum(_decided(picture, "file").values()) == len(node.entries)
        drawn = {vertex.name for vertex in picture.vertices if vertex.kind is Kind.FEATURE}
        assert drawn == set(node.features)
        gone = {vertex.name for vertex in picture.vertices if vertex.kind is Kind.GONE}
        assert gone <= {ref.name for ref in node.node_class.without}


Decided = Counter[tuple[str, str]]
"""Numbers by the label of a layer and that of the feature in it, or of the layer itself."""


def _decided(picture: Picture, noun: str) -> Decided:
    """What layers and features say that they decide; a layer's total is that of its parts."""
    decided = Decided()
    for id_ in picture.stack:
        layer, *features = [each for each in picture.vertices if each.id.split()[1] == id_.split()[1]]
        assert layer.id == id_
        total, listed = _number(layer.lines[0], noun), len(features) > 0
        inside = {
            f"feature {each.name}": sum(_number(line, noun) for line in each.lines) for each in features
        }
        inside[layer.name] = sum(_number(line, noun) for line in layer.lines[1:]) if listed else total
        assert sum(inside.values()) == total
        decided.update({(layer.name, label): number for label, number in inside.items()})
    return +decided


def _number(line: str, noun: str) -> int:
    return int(found[1]) if (found := re.search(rf"([0-9]+) {noun}", line)) else 0


def _by_trail(node: FleetNode) -> Decided:
    deciding = (node.deciding(param) for param in node.params)
    return Decided((step.path[-1], step.path[0]) for step in deciding if step is not None)


PROPERTIES = (
    every_feature_and_edge_is_drawn,
    some_features_keep_what_they_lead_to,
    no_node_is_lost,
    groups_have_their_nodes_and_features,
    layers_decide_what_trails_say,
)
every_property = pytest.mark.parametrize("holds", PROPERTIES, ids=lambda holds: holds.__name__)


@pytest.mark.slow
@every_property
@QUICK
@given(files=valid() | wild())
def test_small_repositories(holds: Property, files: Files) -> None:
    holds(fleet(files))


@pytest.mark.slow
@every_property
@DEEP
@given(files=valid() | wild())
def test_many_repositories(holds: Property, files: Files) -> None:
    holds(fleet(files))


SHAPES: Mapping[str, Options] = {
    "usual": Options(seed=1),
    "sets": Options(seed=4, sets=1, set_files=0.5, without=0.5, identity=0.8, overrides=5),
    "deep": Options(seed=2, nodes=4, features=20, include_depth=6, include_fanout=3),
    "crowded": Options(seed=3, nodes=120, groups=20, memberships=4, sets=0),
    "tail": Options(seed=6, nodes=200, groups=20, memberships=3, sets=0.9, set_size=40),
}


@every_property
@pytest.mark.parametrize("shape", SHAPES)
def test_generated_repositories(holds: Property, shape: str) -> None:
    holds(fleet(repository(SHAPES[shape])))
