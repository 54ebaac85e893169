"""Findings about rules and allocations, as their cases say; and none about what this version refuses."""

from collections.abc import Iterable

import pytest

from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.model import Finding
from tests.cases_format import Case, differences, read_cases
from tests.pushes import check_pushed

CASES = list(read_cases("rules"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_findings_are_those_of_the_case(case: Case) -> None:
    wrong = differences(case, (*check(compile_tree(case.tree, case.today)), *refused(case)))
    assert not wrong, "\n".join(wrong)


def refused(case: Case) -> Iterable[Finding]:
    """What the rules of before say of the change, where a case tells who pushes it."""
    return check_pushed(case.former, case.tree, case.pusher) if case.pusher else ()
