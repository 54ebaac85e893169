"""Whole fleets: what is obvious is done without a solver, and what stands stays where a fleet grows."""

import subprocess
import sys

import pytest

from gitcfg.solve import (
    Exhausted,
    InDomain,
    PlacementProblem,
    Unsolvable,
    ValueProblem,
    ValueSlot,
    assign_values,
    place,
)
from tests.solve.fleets import fleet, subnets
from tests.solve.pools import addresses, nested
from tests.solve.span import Span

CROWDED = subnets(10, 3, 4, 1, per=10)
"""Twelve are wanted where ten fit."""


def placed(problem: PlacementProblem) -> tuple[tuple[str, str], ...]:
    found = place(problem, work=0)  # no search
    assert isinstance(found, tuple)
    return found


def given(problem: ValueProblem) -> dict[str, int | str]:
    found = assign_values(problem, work=0)
    assert isinstance(found, dict)
    return found


def test_another_node_moves_nothing() -> None:
    before = placed(subnets(1000, 8, 2, 4))
    assert len(before) == 20 * 8 * 2
    assert placed(subnets(1001, 8, 2, 4, before)) == before


def test_the_first_that_fit_are_taken() -> None:
    assert placed(subnets(5, 3, 2, 2)) == (
        ("f00", "n00000"),
        ("f00", "n00001"),
        ("f01", "n00000"),
        ("f01", "n00001"),
        ("f02", "n00002"),
        ("f02", "n00003"),
    )


def test_more_add_and_fewer_drop_the_last() -> None:
    before = placed(subnets(1000, 8, 2, 4))
    more, fewer = placed(subnets(1000, 8, 3, 4, before)), placed(subnets(1000, 8, 1, 4, before))
    assert set(before) < set(more)
    assert len(more) == 20 * 8 * 3
    assert set(fewer) < set(before)
    assert ("f00", "n00000") in fewer
    assert ("f00", "n00001") not in fewer


def test_where_a_limit_sinks_one_of_a_node_moves() -> None:
    before = placed(subnets(1000, 8, 2, 4))
    after = placed(subnets(1000, 8, 2, 3, before))
    assert len(after) == len(before)
    assert len(set(before) - set(after)) == 20 * 4  # four nodes a subnet had four


def test_another_address_changes_no_other() -> None:
    before = given(addresses(600, 20, 40))
    after = given(addresses(601, 20, 40, before))
    assert after == {**before, "n00600/eth0": 31}


def test_an_ipv6_network_is_not_gone_through() -> None:
    wide, narrow = InDomain("wide", Span(0, 2**64)), InDomain("narrow", Span(2**63, 2**70))
    assert given(ValueProblem([ValueSlot("n1", [wide, narrow])])) == {"n1": 2**63}


def test_those_with_less_choice_are_thought_of_without_a_search() -> None:
    values = list(given(nested(200)).values())
    assert values == [*range(101, 201), *range(1, 101)]


def test_too_few_addresses_are_told_without_a_search() -> None:
    found = assign_values(addresses(600, 20, 29), work=0)
    assert found == Unsolvable(("pool 0", "addresses differ"), "addresses differ")


def test_too_little_work_says_so() -> None:
    with pytest.raises(Exhausted, match=r"not found within 1e-06 units of work"):
        place(CROWDED, work=1e-06)


def test_too_many_for_what_fits_names_all_that_are_needed_for_that() -> None:
    causes = ("f00 per subnet", "f01 per subnet", "f02 per subnet", "limit")
    assert place(CROWDED) == Unsolvable(causes, causes[0])


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_answers_do_not_depend_on_the_hash_seed(seed: int) -> None:
    code = (
        f"from gitcfg.solve import place; from tests.solve.fleets import fleet; print(place(fleet({seed})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(place(fleet(seed)))


def test_the_solver_is_loaded_where_it_is_needed() -> None:
    code = (
        "import sys; from tests.solve.test_fleets import CROWDED, place, placed, subnets\n"
        "placed(subnets(100, 4, 2, 2)); print('ortools' in sys.modules)\n"
        "place(CROWDED); print('ortools' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
