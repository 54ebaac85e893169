"""Every finding, right and wrong, as the cases say; cases of operations are about none."""

import pytest

from gitcfg.check import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.git.tree import DictTree
from tests.cases_format import Case, differences, read_cases

CASES = [*read_cases("findings"), *read_cases("operations")]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_findings_are_those_of_the_case(case: Case) -> None:
    before = DictTree({"gitcfg.yaml": "format: 1\n", **case.before})
    roster = compile_tree(before, case.today).roster if case.before else None
    findings = check(compile_tree(case.tree, case.today), roster)
    wrong = differences(case, findings)
    assert not wrong, "\n".join(wrong)
