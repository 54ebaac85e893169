"""Placement is held against trying everything: the answer to the last tie, and why there is none."""

from hypothesis import given
from msgspec.structs import replace

from gitcfg.solve import Bound, Implies, PlacementProblem, Unsolvable, place
from tests.properties.runs import DEEP
from tests.solve.placings import answers, best, causes, only, placings


@DEEP
@given(placings())
def test_the_answer_is_the_best_one_and_stays_when_it_stands(problem: PlacementProblem) -> None:
    found, wanted = place(problem), best(problem)
    if isinstance(found, Unsolvable):
        assert wanted is None
    else:
        assert found == wanted
        assert place(replace(problem, previous=found)) == found


@DEEP
@given(placings())
def test_causes_that_cannot_hold_together_are_as_few_as_can_be(problem: PlacementProblem) -> None:
    found = place(problem)
    if not isinstance(found, Unsolvable):
        return
    assert not any(answers(only(problem, found.causes)))
    for cause in found.causes:
        rest = [other for other in found.causes if other != cause]
        assert any(True for _ in answers(only(problem, rest))), cause
    lifting = {
        one for one in causes(problem) if any(True for _ in answers(only(problem, causes(problem) - {one})))
    }
    assert found.suggestion in lifting if lifting else found.suggestion is None


def test_a_spot_that_two_bounds_drop_is_dropped_once() -> None:
    spots = [("b", "s0"), ("b", "s1")]
    bounds = [Bound("most", 0, 1, spots), Bound("most", 0, 1, spots)]
    needs = [Implies("needs", ("a", "s0"), spot) for spot in spots]
    assert place(PlacementProblem(["a", "b"], ["s0", "s1"], bounds, implied=needs, previous=spots)) == (
        ("b", "s0"),
    )
