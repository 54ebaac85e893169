"""Which nodes have which value."""

import pytest

from gitcfg.explain.values import NodesWithValue, find_values
from gitcfg.model import GitcfgError, Op
from tests.explain.pool import pool


def held(param: str, **changed: str) -> list[tuple[object, tuple[str, ...]]]:
    return [(one.value, one.nodes) for one in find_values(pool(**changed).compiled, param)]


def test_most_nodes_first_and_unbound_last() -> None:
    assert held("START") == [
        ("FALSE", ("exec1",)),
        ("TRUE && (TARGET.RequestGPUs >= 1)", ("exec2",)),
        (None, ("cm", "exec3", "exec4", "old")),
    ]
    assert held("CONDOR_HOST")[0] == ("cm.example.org", ("cm", "exec1", "exec2", "exec3", "exec4"))


def test_a_value_is_told_with_the_step_that_decides_it() -> None:
    found = find_values(pool().compiled, "NUM_CPUS")
    assert [(one.value, one.step and (one.step.path, str(one.step.origin))) for one in found] == [
        (4, (("group exec",), "groups/exec.yaml:3:10")),
        (8, (("node exec2",), "nodes/exec2.yaml:2:10")),
        (None, None),
    ]


def test_a_value_has_the_steps_that_count() -> None:
    found = {one.nodes: one.steps for one in find_values(pool().compiled, "START")}
    assert [step.path for step in found[("exec1",)]] == [("override bad",)]
    assert [(step.op, step.path[0]) for step in found[("exec2",)]] == [
        (Op.NULL, "feature Execute"),
        (Op.AND, "feature Gpu"),
    ]


def test_nodes_with_several_trails_to_one_place_have_those_of_the_first() -> None:
    changed = {f"groups__{name}": "params: {DAEMON_LIST: [Y]}\n" for name in ("a", "b")}
    changed["groups__top"] = "params: {DAEMON_LIST: {$append: X}}\n"
    changed |= {f"nodes__{name}": f"groups: [top, {name[0]}]\n" for name in ("a1", "b1", "b2")}
    (one,) = [one for one in find_values(pool(**changed).compiled, "DAEMON_LIST") if one.value == ["Y", "X"]]
    assert (one.nodes, one.trails) == (("a1", "b1", "b2"), 2)
    assert [step.path for step in one.steps] == [("group a",), ("group top",)]


def test_equal_values_from_different_places_stay_apart() -> None:
    found = held("NUM_CPUS", nodes__exec2="params: {NUM_CPUS: 4}\n")
    assert found[:2] == [(4, ("exec1", "exec3")), (4, ("exec2",))]


def test_bound_without_a_value_is_not_unbound() -> None:
    fleet = pool(nodes__exec3="facts: {rack: null}\n").compiled
    by_value = {one.value: one for one in find_values(fleet, "RACK") if one.bound}
    assert by_value["none"].nodes == ("exec3",)
    bare = {one.nodes: one for one in find_values(fleet, "RACK") if one.value is None}
    assert bare[("cm",)].bound
    assert not bare[("old",)].bound


def test_equal_items_of_a_unique_list_count_once() -> None:
    found = held("DAEMON_LIST", nodes__exec2="params: {DAEMON_LIST: {$append: [STARTD, X]}}\n")
    assert (["MASTER", "STARTD", "X"], ("exec2",)) in found


def test_the_same_value_by_another_path_is_another_entry() -> None:
    found = [(one.step and one.step.path, one.nodes) for one in find_values(pool().compiled, "DAEMON_LIST")]
    assert (("feature Execute", "feature Gpu", "group gpu"), ("exec2",)) in found
    assert (("feature Execute", "feature Gpu", "override bad"), ("exec1",)) in found


def test_only_the_chosen_nodes_are_told() -> None:
    found: tuple[NodesWithValue, ...] = find_values(pool().compiled, "NUM_CPUS", ["exec1", "cm"])
    assert [(one.value, one.nodes) for one in found] == [(4, ("exec1",)), (None, ("cm",))]


def test_an_undeclared_parameter_counts_if_something_binds_it() -> None:
    found = held("HOME", gitcfg="format: 1\nundeclared: allow\n", nodes__cm="params: {HOME: /x}\n")
    assert found[0] == ("/x", ("cm",))


def test_what_is_neither_declared_nor_bound_is_an_error() -> None:
    with pytest.raises(GitcfgError, match="no parameter STRT") as error:
        held("STRT")
    assert error.value.hints == ("Did you mean START?",)
    assert held("SLOT_TYPE_99") == [(None, ("cm", "exec1", "exec2", "exec3", "exec4", "old"))]


def test_a_family_is_asked_about_by_its_members() -> None:
    with pytest.raises(GitcfgError, match="family") as error:
        held("SLOT_TYPE_*")
    assert error.value.hints == ("Name one of them: SLOT_TYPE_[1-2],SLOT_TYPE_x.",)
