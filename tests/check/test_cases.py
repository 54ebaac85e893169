"""Every finding, right and wrong, as the cases say; cases of operations are about none."""

import pytest

from gitcfg.check.findings import CODES
from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.parsers.parsers import Parsers
from tests.cases_format import Case, differences, read, read_cases

JUDGE = Parsers()
CASES = [*read_cases("findings"), *read_cases("operations")]
RULED = list(read_cases("rules"))  # judged where rules are read: tests/check/test_rules.py


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_findings_are_those_of_the_case(case: Case) -> None:
    roster = compile_tree(case.former, case.today).roster if case.before else None
    findings = check(compile_tree(case.tree, case.today), roster, judge=JUDGE)
    wrong = differences(case, findings)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("code", list(CODES))
def test_every_code_has_a_wrong_and_a_right_case(code: str) -> None:
    named = [case for case in [*CASES, *RULED] if case.name.startswith(code)]
    wrong = [case for case in named if code in {expected.code for expected in case.findings}]
    assert wrong
    assert len(wrong) < len(named)


CASE = "=== parameters/p.yaml\nparameters: {P: {description: One., depends: [Q]}}\n"


@pytest.mark.parametrize(
    ("expected", "fits"),
    [
        ("GC201 error [Q] at=parameters/p.yaml:1:47", True),
        ("GC201 * [*] nodes=* at=parameters/p.yaml:1", True),
        ("GC201 error [Q]\nmaybe GC202 error [Q]", True),
        ("", False),
        ("GC201 warning [Q]", False),
        ("GC201 error [R]", False),
        ("GC201 error [Q] nodes=n1", False),
        ("GC201 error [Q] at=parameters/p.yaml:1:4", False),
        ("GC201 error [Q] hint=R", False),
        ("GC201 error [Q]\nGC201 error [Q]", False),
    ],
)
def test_a_case_tells_right_from_wrong(expected: str, fits: bool) -> None:
    case = read("made-up", f"{CASE}=== findings\n{expected}\n")
    assert bool(differences(case, check(compile_tree(case.tree, case.today)))) is not fits


def test_warnings_count_where_the_case_is_about_them() -> None:
    text = "=== parameters/p.yaml\nparameters: {P: {}}\n=== findings\n"
    for name, wrong in (("GC503-x", 0), ("GC504-x", 1)):
        case = read(name, text)
        assert len(differences(case, check(compile_tree(case.tree, case.today)))) == wrong
