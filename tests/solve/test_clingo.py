"""Larger placements, as fleets pose them, are held against clingo."""

import pytest

from gitcfg.solve import Unsolvable, place
from tests.seeds import many
from tests.solve import asp
from tests.solve.fleets import fleet
from tests.solve.placings import only


@pytest.mark.parametrize("seed", many(0, 40))
def test_clingo_finds_the_same_best_answer_or_none(seed: int) -> None:
    problem = fleet(seed)
    found, wanted = place(problem), asp.best(problem)
    if not isinstance(found, Unsolvable):
        assert found == wanted
        return
    assert wanted is None
    assert asp.best(only(problem, found.causes)) is None
    for cause in found.causes:
        assert asp.best(only(problem, set(found.causes) - {cause})) is not None
