"""Findings about rules and allocations, as their cases say; and none about what this version refuses."""

import pytest

from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from tests.cases_format import Case, differences, read_cases

CASES = list(read_cases("rules"))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_findings_are_those_of_the_case(ruled: None, case: Case) -> None:
    wrong = differences(case, check(compile_tree(case.tree, case.today)))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_version_that_does_not_read_them_says_no_more(unruled: None, case: Case) -> None:
    found = check(compile_tree(case.tree, case.today))
    refused = {path for path in case.files if path.startswith(("rules/", "allocations/"))}
    assert {one.subjects[0] for one in found if one.code == "GC105"} == refused
    assert not {origin.file for one in found if one.code != "GC105" for origin in one.origins} & refused
