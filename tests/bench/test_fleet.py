"""Fleets of the benchmark: the same from a seed, and one answer in whatever order tools merge."""

from collections.abc import Callable, Iterator, Mapping

import msgspec
import pytest

from bench.fleet import FLEETS, Fleet, Node, Options, Scalar, changed, draw, members, params
from bench.fleet.repository import files

replace = msgspec.structs.replace
SHAPES = {name: replace(FLEETS[name], nodes=min(FLEETS[name].nodes, 60)) for name in FLEETS if name != "sets"}
SHAPES |= {f"small {seed}": replace(FLEETS["small"], seed=seed) for seed in range(2, 6)}
SHAPES["deep"] = replace(FLEETS["small"], include_depth=5, include_fanout=3, features=90, parameters=250)
SHAPES["own"] = replace(FLEETS["small"], identity=1, identity_features=3, identity_params=9)


def once(fleet: Fleet, node: Node, order: Callable[[Fleet, Node], Iterator[str]]) -> dict[str, Scalar]:
    """Each feature where it stands first in an order, as reclass has it; groups and the node after theirs."""
    found: dict[str, Scalar] = {}
    for name in dict.fromkeys(order(fleet, node)):
        found.update((fleet.features.get(name) or fleet.groups[name]).params)
    return {**found, **node.params}


def group_by_group(fleet: Fleet, node: Node) -> Iterator[str]:
    for group in fleet.memberships(node):
        yield from below(fleet, group.features)
        yield group.name
    yield from below(fleet, node.features)


def features_then_groups(fleet: Fleet, node: Node) -> Iterator[str]:
    yield from below(fleet, node.features)
    for group in fleet.memberships(node):
        yield from below(fleet, group.features)
    yield from (group.name for group in fleet.memberships(node))


def below(fleet: Fleet, names: tuple[str, ...]) -> Iterator[str]:
    """The features and what they include, lowest first."""
    for name in reversed(names):
        yield from below(fleet, fleet.features[name].include)
        yield name


def last_first(fleet: Fleet, node: Node) -> Iterator[str]:
    """Each where it stands last."""
    yield from reversed(list(dict.fromkeys(reversed(list(group_by_group(fleet, node))))))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", [group_by_group, features_then_groups, last_first])
def test_answer_is_the_same_in_every_order(shape: str, order: Callable[[Fleet, Node], Iterator[str]]) -> None:
    fleet = draw(SHAPES[shape])
    for node in fleet.nodes.values():
        assert once(fleet, node, order) == params(fleet, node)


@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "one"])
def test_order_of_layers_decides_values(shape: str) -> None:
    """Else the comparison would prove nothing: with the layers upside down, nodes have other values."""
    fleet = draw(SHAPES[shape])
    upside = [
        once(fleet, node, lambda *asked: reversed(list(group_by_group(*asked))))
        for node in fleet.nodes.values()
    ]
    right = [params(fleet, node) for node in fleet.nodes.values()]
    assert sum(a != b for a, b in zip(upside, right, strict=True)) >= len(right) * 0.9
    assert fleet.options.nodes == len(right)


def test_every_rule_of_layers_is_used() -> None:
    """Includers over includes, groups over their features, groups over groups, nodes over all."""
    fleet = draw(replace(FLEETS["large"], nodes=100))
    found = dict.fromkeys(("includes", "features", "groups", "nodes"), 0)
    for node in fleet.nodes.values():
        seen: dict[str, str] = {}
        for kind, said in kinds(fleet, node):
            for name in said:
                before = seen.get(name)
                found["nodes"] += kind == "node" and before is not None
                found["groups"] += kind == before == "group"
                found["features"] += (before, kind) == ("feature", "group")
                found["includes"] += kind == before == "feature"
                seen[name] = kind
    assert all(found.values()), found


def kinds(fleet: Fleet, node: Node) -> Iterator[tuple[str, Mapping[str, Scalar]]]:
    for name in dict.fromkeys(group_by_group(fleet, node)):
        if name in fleet.features:
            yield "feature", fleet.features[name].params
        else:
            yield "group", fleet.groups[name].params
    yield "node", node.params


def test_same_seed_gives_the_same_files_and_another_does_not() -> None:
    options = FLEETS["small"]
    assert dict(files(draw(options))) == dict(files(draw(options)))
    assert dict(files(draw(options))) != dict(files(draw(replace(options, seed=2))))


def test_change_concerns_the_members_of_one_group() -> None:
    fleet = draw(SHAPES["small"])
    after = changed(fleet)
    assert len(dict(files(after)).items() - dict(files(fleet)).items()) == 1
    differ = [name for name, node in fleet.nodes.items() if params(fleet, node) != params(after, node)]
    assert differ
    assert set(differ) <= set(members(fleet))
    assert len(members(fleet)) < len(fleet.nodes) / 2


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("small", 45, 65), ("stress", 465, 480), ("large", 430, 570), ("own", 155, 190)],
)
def test_fleets_have_their_sizes(name: str, least: int, most: int) -> None:
    fleet = draw(replace(FLEETS[name], nodes=30))
    assert all(least <= len(params(fleet, node)) <= most for node in fleet.nodes.values())


def test_memberships_of_large_are_nearly_all_different() -> None:
    nodes = draw(FLEETS["large"]).nodes.values()
    assert len({node.groups for node in nodes}) > 9900
    assert {len(node.groups) for node in nodes} == {5}


def test_relations_are_as_asked() -> None:
    fleet = draw(replace(FLEETS["large"], nodes=1))
    for kind in (fleet.features.values(), fleet.parameters.values()):
        assert sum(len(one.depends) for one in kind) == 10
        assert sum(len(one.conflicts) for one in kind) == 10


def test_shares_are_as_asked() -> None:
    options = Options(nodes=400, groups=4, features=12, parameters=40, feature_params=2, identity=0.25)
    own = [node for node in draw(options).nodes.values() if node.params]
    assert 0.15 < len(own) / 400 < 0.35
    assert all(node.features for node in own)
