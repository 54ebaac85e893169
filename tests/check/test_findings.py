"""Every code has an explanation, and the examples in it are true.

In an explanation, fenced blocks whose info string is a language and a path are files. Those under
`## Wrong` make one repository, those under `## Right` another; gitcfg.yaml is `format: 1` unless given.
The word `before` behind the path puts the file into the repository as it was before the change. Where a
command `gitcfg check --each ... --as WHO` is shown, WHO pushes the change.
"""

import re
from datetime import date

import pytest

from gitcfg.check.findings import CODES, above_blocks, explanation, lookup
from gitcfg.check.run import check
from gitcfg.compile.fleet import compile_tree
from gitcfg.git.tree import DictTree
from gitcfg.model import Finding, GitcfgError, Severity
from gitcfg.parsers.parsers import Parsers
from tests.pushes import check_pushed

PRODUCED = list(CODES)
JUDGE = Parsers()
TODAY = date(2026, 1, 1)


_BLOCK = re.compile(r"^```\w+ (\S+)( before)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PUSHER = re.compile(r"`gitcfg check --each \S+ --as (\S+)`")


def part(code: str, heading: str) -> str:
    """What stands in an explanation below a heading."""
    _, _, rest = explanation(code).partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0]


def example(code: str, heading: str, before: str = "") -> DictTree:
    """The repository that an explanation's part shows, as it is or as it was before."""
    blocks = _BLOCK.findall(part(code, heading))
    assert blocks, f"{code} has no files under {heading}"
    files = {path: text for path, when, text in blocks if when == before}
    return DictTree({"gitcfg.yaml": "format: 1\n", **files})


def findings(code: str, heading: str) -> tuple[Finding, ...]:
    before, now = example(code, "Wrong", " before"), example(code, heading)
    found = tuple(check(compile_tree(now, TODAY), compile_tree(before, TODAY).roster, judge=JUDGE))
    told = part(code, "What gitcfg says" if heading == "Wrong" else heading)
    for who in _PUSHER.findall(told):
        found += check_pushed(before, now, who)
    return found


@pytest.mark.parametrize("code", PRODUCED)
def test_wrong_example_has_the_finding(code: str) -> None:
    found = findings(code, "Wrong")
    assert code in {finding.code for finding in found}, found


@pytest.mark.parametrize("code", PRODUCED)
def test_right_example_has_neither_it_nor_any_error(code: str) -> None:
    wrong = [
        found for found in findings(code, "Right") if found.code == code or found.severity is Severity.ERROR
    ]
    assert wrong == []


@pytest.mark.parametrize("code", PRODUCED)
def test_what_gitcfg_says_is_at_the_real_places(code: str) -> None:
    """Severity, code and places are those of the finding; its words may change."""
    _, _, said = explanation(code).partition("## What gitcfg says\n")
    said = said.partition("## Right")[0]
    real = [found for found in findings(code, "Wrong") if found.code == code]
    assert [str(found.origins[0]) for found in real] == re.findall(r"^  --> (\S+)$", said, re.MULTILINE)
    assert {f"{found.severity}[{code}]" for found in real} == set(
        re.findall(r"^\w+\[GC\d+\]", said, re.MULTILINE)
    )


@pytest.mark.parametrize("code", PRODUCED)
def test_explanation_begins_with_the_title_and_is_short(code: str) -> None:
    lines = explanation(code).splitlines()
    assert lines[0] == f"# {code}: {lookup(code).title}"
    assert 20 <= len(lines) <= 60
    assert max(map(len, lines)) <= 110


def test_explanations_mention_only_codes_that_exist() -> None:
    mentioned = {name for code in CODES for name in re.findall(r"GC\d+", explanation(code))}
    assert mentioned <= set(CODES)


def test_severity_is_a_warning_in_the_five_hundreds_only() -> None:
    warnings = {name for name, code in CODES.items() if code.severity is Severity.WARNING}
    assert warnings == {name for name in CODES if name.startswith("GC5")}


def test_code_is_found_in_any_case() -> None:
    assert lookup("gc204") is CODES["GC204"]


@pytest.mark.parametrize("code", ["GC299", "204", "nonsense", "../codes"])
def test_unknown_code_is_refused_with_a_hint(code: str) -> None:
    with pytest.raises(GitcfgError, match="no finding") as refused:
        explanation(code)
    assert refused.value.hints


@pytest.mark.parametrize("code", PRODUCED)
def test_the_names_of_files_can_stand_above_their_blocks(code: str) -> None:
    text = explanation(code)
    paths = re.findall(r"^```\w+ (\S+)", text, re.MULTILINE)
    shown = above_blocks(text)
    assert paths
    assert all(f"`{path}`" in shown for path in paths)
    assert not re.search(r"^```\w+ ", shown, re.MULTILINE)
