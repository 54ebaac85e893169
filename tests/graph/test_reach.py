"""Components and reachability agree with their definitions."""

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.model.graph import components, reach

VERTICES = "abcdef"
graphs = st.dictionaries(st.sampled_from(VERTICES), st.sets(st.sampled_from(VERTICES)).map(sorted))


def walked(edges: dict[str, list[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = list(edges.get(start, ()))
    while todo:
        vertex = todo.pop()
        if vertex not in found:
            found.add(vertex)
            todo += edges.get(vertex, ())
    return found


@given(graphs)
def test_reach_is_what_walking_finds(edges: dict[str, list[str]]) -> None:
    found = reach(edges)
    for vertex in edges:
        assert found[vertex] == walked(edges, vertex)


@given(graphs)
def test_components_are_what_reaches_each_other(edges: dict[str, list[str]]) -> None:
    parts = components(edges)
    place = {vertex: index for index, part in enumerate(parts) for vertex in part}
    assert sum(map(len, parts)) == len(place)
    for one in place:
        for other in place:
            mutual = one == other or (other in walked(edges, one) and one in walked(edges, other))
            assert (place[one] == place[other]) == mutual


@given(graphs)
def test_what_a_component_leads_to_comes_before_it(edges: dict[str, list[str]]) -> None:
    place = {vertex: index for index, part in enumerate(components(edges)) for vertex in part}
    for vertex, targets in edges.items():
        for target in targets:
            assert place[target] <= place[vertex]


def test_a_long_chain_does_not_recurse() -> None:
    edges = {str(n): [str(n + 1)] for n in range(20_000)}
    assert len(components(edges)) == 20_001
