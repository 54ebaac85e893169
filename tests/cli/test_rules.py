"""Commands that edit rules and what was decided for them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.completing import write

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "features/F.yaml": "description: F.\n",
    "nodes/n1.yaml": "features: [F]\n",
    "rules/r.yaml": "rules:\n  few: {limit: F, count: {max: 1}}\n  some: {install: F, count: 1}\n",
    "allocations/some.yaml": "install: [n1]\n",
}


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q", "-b", "main"], check=True)
    return tmp_path


def gitcfg(line: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "gitcfg", *line.split()]
    return subprocess.run(program, capture_output=True, text=True, check=False)


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
