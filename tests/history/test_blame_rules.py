"""Blame for what rules bring: of a rule in a file of many, and of what was decided for it."""

from pathlib import Path

import pytest

from gitcfg.git.repository import Repository
from gitcfg.history.blame import Blamer
from gitcfg.model import GitcfgError, Origin
from tests.history.histories import Version, imported

R, A = "rules/sub/r.yaml", "allocations/w.yaml"
FIRST = {
    "gitcfg.yaml": "format: 1\n",
    R: "rules:\n  s: {set: {P: 1}}\n  w: {install: F, count: 1}\n",
    A: "install: [a]\nvalues: {a: {P: 1}}\n",
}
SECOND = {R: "rules:\n  s: {set: {P: 2}}\n  w: {install: F, count: 1}\n"}
THIRD = {A: "install:\n- b\n- a\nvalues: {a: {P: 1}, b: {P: 1}}\n"}


def blamed(folder: Path, label: str, origin: Origin) -> str:
    files = dict(FIRST)
    versions = [Version((), dict(FIRST))]
    for number, changed in enumerate((SECOND, THIRD)):
        files.update(changed)
        versions.append(Version((number,), dict(files)))
    imported(folder / "r.git", versions)
    found = Blamer(Repository.open(folder / "r.git"), "main").of(label, origin)
    assert found is not None
    return found.subject


@pytest.mark.parametrize(
    ("label", "origin", "commit"),
    [
        ("rule s", Origin(R, 2, 13), "commit 1"),
        ("rule w", Origin(R, 3, 16), "commit 0"),
        ("rule w", Origin(A, 2, 3), "commit 2"),
        ("rule w", Origin(A, 3, 3), "commit 0"),
        ("allocation w", Origin(A, 4, 14), "commit 0"),
        ("allocation w", Origin(A, 4, 25), "commit 2"),
    ],
)
def test_what_rules_bring_is_blamed_by_its_place(
    tmp_path: Path, label: str, origin: Origin, commit: str
) -> None:
    assert blamed(tmp_path, label, origin) == commit


def test_where_no_rule_says_anything_nobody_is_to_blame(tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match="There is nothing of rule s"):
        blamed(tmp_path, "rule s", Origin(R, 9, 9))
