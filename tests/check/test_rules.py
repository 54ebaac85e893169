"""Findings about rules and allocations, as their cases say; and none about what this version refuses."""

import pytest

from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from tests.cases_format import Case, differences, read_cases

CASES = list(read_cases("rules"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_findings_are_those_of_the_case(case: Case) -> None:
    wrong = differences(case, check(compile_tree(case.tree, case.today)))
    assert not wrong, "\n".join(wrong)
