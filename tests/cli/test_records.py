"""Which commands have records, and those of commands that write files; cases/commands has those of edits."""

import json
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cli.commands import COMMANDS
from gitcfg.cli.main import run
from gitcfg.cli.reference import Command, read
from tests.cli.published import judge
from tests.cli.test_commands import git

SILENT = {
    "gitcfg agent": "a program that runs until it is ended",
    "gitcfg completion": "a script for a shell",
    "gitcfg configure": "a dialogue with a person",
    "gitcfg help": "documentation",
    "gitcfg hook post-receive": "git calls it, and shows its output to people",
    "gitcfg hook pre-commit": "git calls it, and shows its output to people",
    "gitcfg hook pre-receive": "git calls it, and shows its output to people",
    "gitcfg schema": "files for editors",
    "gitcfg serve": "a program that runs until it is ended",
}
"""By command what it gives instead of an answer: these have no `-o`."""


def has_output(command: Command) -> bool:
    return any("--output" in option.names for option in command.options)


def test_every_command_that_answers_has_an_output_for_programs() -> None:
    lacking = {" ".join(one.words) for one in read(COMMANDS).all() if one.runs and not has_output(one)}
    assert lacking == SILENT.keys()


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree below git's top, with two commits."""
    monkeypatch.chdir(tmp_path)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "n")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "n@example.org")
    folder = tmp_path / "pool"
    (folder / "features").mkdir(parents=True)
    git(tmp_path, "init", "--quiet")
    (folder / "gitcfg.yaml").write_text("format: 1\n")
    for description in ("Old.", "New."):
        (folder / "features/A.yaml").write_text(f"description: {description}\n")
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "--quiet", "-m", description)
    return folder


def answer(capfd: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, Any]:
    """What a command writes as JSON, which is all that it writes to stdout and as its schema says."""
    capfd.readouterr()
    assert run([*map(str, words), "-o", "json"]) == code
    text = capfd.readouterr().out
    judge(text, "json")
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD").strip()


def test_undo_and_restore_name_files_as_the_repository_does(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here = ("-C", pool)
    made = answer(capfd, *here, "snapshot", "create", "new")
    assert made["snapshots"][0]["commit"] == head(pool)
    found = answer(capfd, *here, "undo", "--yes")
    assert found["files"] == [{"path": "features/A.yaml", "change": "changed"}]
    assert (found["written"], found["commit"]) == (True, head(pool))
    assert answer(capfd, *here, "snapshot", "show", "new")["snapshots"][0]["changes"] == []
    found = answer(capfd, *here, "snapshot", "restore", "new", "--dry-run")
    assert (found["written"], found["commit"], len(found["files"])) == (False, None, 1)
    found = answer(capfd, *here, "snapshot", "restore", "new", "--yes")
    assert (found["written"], found["commit"]) == (True, head(pool))
    assert answer(capfd, *here, "snapshot", "restore", "new", "--yes")["files"] == []
    assert answer(capfd, *here, "snapshot", "delete", "new") == made


def test_an_undo_that_adds_errors_is_refused(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    here = ("-C", pool)
    (pool / "features/B.yaml").write_text("description: B.\n")
    git(pool, "add", "--all")
    git(pool, "commit", "--quiet", "-m", "B")
    answer(capfd, *here, "modify", "feature", "A", "--include", "B", "--commit")
    before = head(pool)
    found = answer(capfd, *here, "undo", "HEAD~1", "--yes", code=1)
    assert (found["written"], found["commit"]) == (False, None)
    assert found["files"] == [{"path": "features/B.yaml", "change": "deleted"}]
    assert [one["code"] for one in found["findings"] if one["severity"] == "error"] == ["GC201"]
    assert head(pool) == before


def test_new_repositories(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = answer(capfd, "init", pool.parent.parent / "fleet")
    folder = Path(found["folder"])
    assert (found["written"], found["hook"], found["commit"]) == (True, True, head(folder))
    assert {one["change"] for one in found["files"]} == {"created"}
    assert git(folder, "ls-files").splitlines() == [one["path"] for one in found["files"]]


def test_documents_and_copies(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    here, site = ("-C", pool), pool.parent / "site"
    found = answer(capfd, *here, "export", "docs", "--out", site, "--html", site / "all.html", "--at", "HEAD")
    assert found["commit"] == head(pool)
    assert [one["path"] for one in found["outputs"]] == [str(site), str(site / "all.html")]
    assert all(one["written"] for one in found["outputs"])
    again = answer(capfd, *here, "export", "docs", "--out", site, "--at", "HEAD")["outputs"]
    assert [(one["written"], one["removed"]) for one in again] == [(0, 0)]
    found = answer(capfd, *here, "sanitize", pool.parent / "copy")
    assert (found["created"], found["differences"]) == (2, [])
    assert found["findings"] == len(answer(capfd, *here, "check")["findings"])
