"""`gitcfg wait` and `release status` by releases that are over: what is still to come, and what to do."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cli.main import run
from gitcfg.rollout import Plan, Progress, Status
from gitcfg.state.records import StoredRelease
from gitcfg.state.state import connect
from tests.cli.published import judge

WHO = ["-c", "user.name=n", "-c", "user.email=e@example.org"]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nodes").mkdir()
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    (tmp_path / "nodes/n1.yaml").write_text("groups: []\n")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    for message in ("one", "two", "three"):
        words = ["git", *WHO, "commit", "-q", "--allow-empty", "-m", message]
        subprocess.run(words, cwd=tmp_path, check=True)
    for name in ("REPO", "DATABASE", "STATE", "SERVER", "TOKEN"):
        monkeypatch.delenv(f"GITCFG_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def released(clone: Path, *oldest_first: Status) -> None:
    """The commits' releases as a server would have kept them, the first one first."""
    words = ["git", "rev-list", "--reverse", "HEAD"]
    ids = subprocess.run(words, cwd=clone, check=True, capture_output=True, text=True).stdout.split()
    (clone / ".git/gitcfg-server").mkdir()
    state = connect(f"sqlite:///{clone}/.git/gitcfg-server/state.db")
    base = None
    for commit, status in zip(ids, oldest_first, strict=False):
        plan = Plan(("n1",), (1,)) if base else Plan((), (0,))
        assert state.releases.begin(
            StoredRelease(commit, base, 1.0, plan, Progress(commit, 1.0, status=status))
        )
        base = commit
    state.close()


@pytest.mark.parametrize("newest", [Status.ABORTED, Status.HALTED])
def test_where_the_newest_went_wrong_the_one_before_it_is_still_to_come(
    newest: Status, clone: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    released(clone, Status.DONE, Status.DONE, newest)
    assert run(["wait", "HEAD~1", "--timeout", "1s"]) == 5
    assert "1 node of 1 does not run it yet: n1." in capfd.readouterr().err
    assert run(["wait", "HEAD", "--timeout", "1s"]) == 3


def test_of_an_aborted_release_it_is_not_said_that_it_may_be_resumed(
    clone: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    released(clone, Status.DONE, Status.ABORTED, Status.ABORTED)
    assert run(["wait", "HEAD~1", "--timeout", "1s"]) == 3
    said = capfd.readouterr().err
    assert "is aborted. 1 node of 1" in said
    assert "resume" not in said
    assert "hint: Its nodes return to the previous commit. Push another commit." in said


def test_what_is_halted_may_be_resumed(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    released(clone, Status.DONE, Status.DONE, Status.HALTED)
    assert run(["wait", "HEAD", "--timeout", "1s"]) == 3
    assert "hint: Run `gitcfg release resume`" in capfd.readouterr().err


def told(capfd: pytest.CaptureFixture[str]) -> Any:
    """What was written to stdout, which is as published."""
    text = capfd.readouterr().out
    judge(text, "json")
    return json.loads(text)


@pytest.mark.parametrize(
    ("newest", "code", "outcome"), [(Status.HALTED, 3, "halted"), (Status.DONE, 5, "timeout")]
)
def test_programs_read_how_waiting_ended(
    newest: Status, code: int, outcome: str, clone: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    released(clone, Status.DONE, Status.DONE, newest)
    assert run(["wait", "HEAD", "--timeout", "1s", "-o", "json"]) == code
    found = told(capfd)
    assert found["outcome"] == outcome
    assert found["message"].endswith("1 node of 1 does not run it yet: n1.")
    assert found["nodes"] == [{"node": "n1", "runs": False}]
    assert run(["wait", "HEAD", "--where", "false", "--timeout", "1s", "-o", "json"]) == 0
    found = told(capfd)
    assert (found["outcome"], found["message"], found["nodes"]) == ("done", None, [])


def test_programs_read_what_became_of_a_release(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    released(clone, Status.DONE, Status.DONE, Status.HALTED)
    assert run(["release", "resume", "HEAD", "-o", "json"]) == 0
    assert [one["status"] for one in told(capfd)["releases"]] == ["running"]
    assert run(["release", "abort", "HEAD", "-o", "json"]) == 0
    assert [one["status"] for one in told(capfd)["releases"]] == ["aborted"]


def test_the_first_commit_is_for_all_at_once(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    released(clone, Status.DONE)
    assert run(["release", "status"]) == 0
    assert capfd.readouterr().out.endswith("  done  the first commit: all nodes at once\n")
