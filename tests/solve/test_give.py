"""Values are held against trying everything: the answer to the last tie, and why there is none."""

from hypothesis import given
from msgspec.structs import replace

from gitcfg.solve import Unsolvable, ValueProblem, assign_values
from tests.properties.runs import DEEP
from tests.solve.givings import answers, best, givings


@DEEP
@given(givings())
def test_the_answer_is_the_best_one_and_stays_when_it_stands(problem: ValueProblem) -> None:
    found, wanted = assign_values(problem), best(problem)
    if isinstance(found, Unsolvable):
        assert wanted is None
    else:
        assert found == wanted
        stands = [replace(want, previous=found.get(want.slot)) for want in problem.wants]
        assert assign_values(replace(problem, wants=stands)) == found


@DEEP
@given(givings())
def test_causes_that_cannot_hold_together_are_as_few_as_can_be(problem: ValueProblem) -> None:
    found, causes = assign_values(problem), problem.causes()
    if not isinstance(found, Unsolvable):
        return
    assert not _solvable(problem.only(found.causes))
    for cause in found.causes:
        assert _solvable(problem.only([other for other in found.causes if other != cause])), cause
    lifting = [one for one in causes if _solvable(problem.only([other for other in causes if other != one]))]
    assert found.suggestion in lifting if lifting else found.suggestion is None


def _solvable(problem: ValueProblem) -> bool:
    return any(True for _ in answers(problem))
