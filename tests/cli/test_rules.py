"""Commands on rules and allocations: a program that reads them offers their kinds, this one does not yet."""

import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "features/F.yaml": "description: F.\n",
    "nodes/n1.yaml": "features: [F]\n",
    "rules/r.yaml": "rules:\n  few: {limit: F, count: {max: 1}}\n  some: {install: F, count: 1}\n",
    "allocations/some.yaml": "install: [n1]\n",
}
SWITCHED = "import sys, gitcfg.model.kinds as k; k.LATER = (); from gitcfg.cli.main import run\n"
PLAIN = "import sys; from gitcfg.cli.main import run\n"
KINDS = "from gitcfg.cli.editing import Editable; print(*Editable)"


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q", "-b", "main"], check=True)
    return tmp_path


def python(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )


def gitcfg(line: str, start: str = SWITCHED) -> subprocess.CompletedProcess[str]:
    return python(f"{start}sys.exit(run(sys.argv[1:]))", *line.split())


def test_rules_are_edited_by_the_program_that_reads_them(pool: Path) -> None:
    assert gitcfg("rename rule some other").returncode == 0
    assert (pool / "allocations/other.yaml").read_text() == "install: [n1]\n"
    assert "  other: {install: F" in (pool / "rules/r.yaml").read_text()
    refused = gitcfg("delete feature F --force")
    assert refused.returncode == 0
    told = gitcfg("check")
    assert told.returncode == 1
    assert told.stdout.count("GC201") == 1
    assert "rules/r.yaml:2:16" in told.stdout


def test_nothing_goes_that_something_was_decided_for(pool: Path) -> None:
    refused = gitcfg("delete rule some")
    assert refused.returncode == 1
    assert "GC403" in refused.stdout + refused.stderr
    assert (pool / "rules/r.yaml").read_text() == FILES["rules/r.yaml"]
    assert gitcfg("delete allocation some").returncode == 0
    assert gitcfg("delete rule some").returncode == 0
    assert (pool / "rules/r.yaml").read_text() == "rules:\n  few: {limit: F, count: {max: 1}}\n"
    assert gitcfg("check").returncode == 0


def test_this_version_offers_nothing_of_them(pool: Path) -> None:
    told = gitcfg("rename rule some other", PLAIN)
    assert told.returncode == 2
    assert "'rule' is not one of" in told.stderr
    assert gitcfg("show rules", PLAIN).returncode == 2
    assert gitcfg("check", PLAIN).stdout.count("GC105") == 2


@pytest.mark.parametrize(("start", "offered"), [(SWITCHED, True), (PLAIN, False)])
def test_kinds_are_offered_where_they_are_read(start: str, offered: bool) -> None:
    grammar = "from gitcfg.cli.syntax import _PATTERNS; print(*_PATTERNS)"
    for program in (KINDS, grammar):
        assert ({"rule", "allocation"} <= set(python(start + program).stdout.split())) is offered
