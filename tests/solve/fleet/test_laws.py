"""What is decided satisfies an independent checker, changes as little as can be, and is a fixed point."""

from copy import deepcopy

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gitcfg.model.rules import Allocation
from gitcfg.solve.fleet import Solved, Unsolved, decide, difference
from gitcfg.solve.fleet.answers import allocate_places
from tests.compile.rules.fleets import TODAY, fleet
from tests.seeds import TIMES
from tests.solve.fleet.repositories import (
    FEATURES,
    Repository,
    able,
    answers,
    asked,
    repositories,
    spots_of,
    whole,
)


def decided(said: Repository, allocations: dict[str, Allocation]) -> Solved | Unsolved:
    found = fleet(said.files(), *said.rules(), allocations=tuple(allocations.values()))
    return decide(found.model, found.tree, TODAY)


def standing(said: Repository, slots: list[tuple[int, str]]) -> dict[str, Allocation]:
    found: dict[str, list[str]] = {}
    for number, slot in slots:
        found.setdefault(f"r{number % len(said.wants)}", []).append(slot)
    return {name: allocate_places(name, sorted(set(names))) for name, names in found.items()}


def ports_can_be(said: Repository) -> bool:
    by_hand = [node["port"] for node in said.nodes.values() if node["port"]]
    first, last = said.ports
    within = all(first <= port <= last for port in by_hand)
    return within and len(set(by_hand)) == len(by_hand) and len(said.nodes) <= last - first + 1


slots = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(("n1", "n2", "n10", "gone"))), max_size=4)


@settings(max_examples=30 * TIMES)
@given(repositories(), slots)
def test_the_answer_is_the_least_change_that_stands(said: Repository, before: list[tuple[int, str]]) -> None:
    previous = standing(said, before)
    found, all_of_them = decided(said, previous), answers(said)
    if isinstance(found, Unsolved):
        assert not all_of_them or not ports_can_be(said)
        assert found.causes
        assert all(cause.origins for cause in found.causes)
        return
    assert ports_can_be(said)
    spots, was = spots_of(said, found.allocations), spots_of(said, previous)
    assert spots in all_of_them
    had = {spot for spot in was & able(said) if asked(said, spot)}
    least = min((len(one ^ had), len(one)) for one in all_of_them)
    assert (len(spots ^ had), len(spots)) == least


@settings(max_examples=30 * TIMES)
@given(repositories())
def test_values_are_unique_and_in_their_domain(said: Repository) -> None:
    found = decided(said, {})
    assume(isinstance(found, Solved))
    assert isinstance(found, Solved)
    values = {name: node["port"] for name, node in said.nodes.items() if node["port"]}
    by_slot = found.allocations["port"].values if "port" in found.allocations else {}
    assert not values.keys() & by_slot.keys()
    values |= {slot: bound["port"].given for slot, bound in by_slot.items()}
    assert values.keys() == said.nodes.keys()
    assert len(set(values.values())) == len(values)
    assert all(said.ports[0] <= value <= said.ports[1] for value in values.values())


@settings(max_examples=30 * TIMES)
@given(repositories())
def test_nodes_get_what_was_decided(said: Repository) -> None:
    found = decided(said, {})
    assume(isinstance(found, Solved))
    assert isinstance(found, Solved)
    compiled = fleet(said.files(), *said.rules(), allocations=tuple(found.allocations.values()))
    spots = spots_of(said, found.allocations)
    for name, node in said.nodes.items():
        placed_here = {feature for feature, slot in spots if slot == name}
        assert set(compiled[name].features) == whole(
            said, placed_here | set(node["features"]), node["without"]
        )
    values = [compiled[name].params["port"] for name in said.nodes]
    assert len(set(values)) == len(values)
    assert all(node["port"] in (None, compiled[name].params["port"]) for name, node in said.nodes.items())


@settings(max_examples=30 * TIMES)
@given(repositories(), slots)
def test_deciding_again_changes_nothing(said: Repository, before: list[tuple[int, str]]) -> None:
    found = decided(said, standing(said, before))
    assume(isinstance(found, Solved))
    assert isinstance(found, Solved)
    again = decided(said, dict(found.allocations))
    assert again == found
    assert not list(difference({}, found.allocations, found.allocations))


@settings(max_examples=30 * TIMES)
@given(repositories(), st.sampled_from("xyz"))
def test_one_more_node_changes_nothing_of_the_others(said: Repository, label: str) -> None:
    found = decided(said, {})
    assume(isinstance(found, Solved))
    more = deepcopy(said)
    more.nodes["n3"] = {"label": label, "rack": "3", "features": [], "without": [], "port": None}
    grown = decided(more, dict(found.allocations)) if isinstance(found, Solved) else None
    assume(isinstance(grown, Solved))
    assert isinstance(found, Solved)
    assert isinstance(grown, Solved)
    rules = {rule.name: rule for rule in more.rules()}
    changes = list(difference(rules, found.allocations, grown.allocations))
    assert {change.slot for change in changes} <= {"n3"}
    assert {change.what for change in changes} <= {*FEATURES, "port"}
