"""What git calls before a commit tells what the change brings, as the gate does, and counts the rest."""

import re
import subprocess
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.test_hook_install import _alone, commit, git, write

__all__ = ["_alone"]

ROOT = Path(__file__).parents[2]
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {P: {}, Q: {}}\n",
    "nodes/a.yaml": "description: A node.\n",
}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "pool"
    folder.mkdir()
    git(folder, "init", "--quiet")
    write(folder, FILES)
    git(folder, "commit", "--quiet", "--message", "start")
    assert run(["-C", str(folder), "hook", "install"]) == 0
    return folder


def lines(told: subprocess.CompletedProcess[str]) -> str:
    return re.sub(r"^\[main .*\n .*\n", "", told.stdout, flags=re.MULTILINE) + told.stderr


def test_only_what_the_change_brings_is_told(pool: Path) -> None:
    same = commit(pool, {"nodes/a.yaml": "description: The same.\n"})
    assert same.returncode == 0
    assert "GC504" not in lines(same)
    assert lines(same).endswith(
        "Nothing new is wrong: 1 node, 0 groups, 0 features, 2 parameters.\n"
        "2 earlier warnings: `gitcfg check` shows them.\n"
    )
    more = commit(pool, {"parameters/r.yaml": "parameters: {R: {}}\n"})
    assert more.returncode == 0
    assert "warning[GC504] R has no description." in lines(more)
    assert "P has no description." not in lines(more)
    assert "0 errors, 1 warning in 1 node" in lines(more)
    assert lines(more).endswith("2 earlier warnings: `gitcfg check` shows them.\n")


def test_errors_refuse_a_commit_whoever_made_them_unless_head_says_ratchet(pool: Path) -> None:
    write(pool, {"nodes/a.yaml": "groups: [nowhere]\n"})
    git(pool, "commit", "--quiet", "--no-verify", "--message", "wrong")
    refused = commit(pool, {"nodes/b.yaml": "description: Right.\n"})
    assert refused.returncode == 1
    assert "error[GC201] There is no group nowhere." in lines(refused)
    write(pool, {"gitcfg.yaml": "format: 1\nratchet: true\n"})
    git(pool, "commit", "--quiet", "--no-verify", "--message", "ratchet")
    taken = commit(pool, {"nodes/c.yaml": "description: Right.\n"})
    assert taken.returncode == 0
    assert lines(taken).endswith("1 earlier error and 2 earlier warnings: `gitcfg check` shows them.\n")
    worse = commit(pool, {"nodes/d.yaml": "groups: [elsewhere]\n"})
    assert worse.returncode == 1
    assert "There is no group elsewhere." in lines(worse)
    assert "nowhere" not in lines(worse)


def test_of_the_first_configuration_all_is_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, {"note.txt": "No configuration.\n"})
    git(tmp_path, "commit", "--quiet", "--message", "before")
    write(tmp_path, FILES)
    assert run(["-C", str(tmp_path), "hook", "install"]) == 0
    first = commit(tmp_path, {})
    assert first.returncode == 0
    assert lines(first).count("has no description.") == 2
    assert "earlier" not in lines(first)


def test_where_nothing_is_about_to_be_committed_all_is_told(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert run(["-C", str(pool), "hook", "pre-commit"]) == 0
    told = capfd.readouterr()
    assert told.out.count("has no description.") == 2
    assert "earlier" not in told.err


def test_pre_commit_and_the_script_run_the_same_command() -> None:
    entry = re.search(r"^  entry: (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)
    script = re.search(r"^exec (.*)$", (ROOT / "hooks/pre-commit").read_text(), re.MULTILINE)
    assert entry is not None
    assert script is not None
    assert entry[1] == script[1] == "gitcfg --no-pager hook pre-commit"
