"""`gitcfg undo` where things are not as usual: terminals, hooks, unsaved work, merges, odd repositories."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.terminals import Terminal, plain
from tests.edit.test_undo import BEGIN, WORKERS, cloned, conflicting, git, state, taken, tree_of
from tests.history.histories import Version

GITCFG = [sys.executable, "-m", "gitcfg"]
CHANGED = taken(BEGIN[WORKERS].replace("m1", "m2"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return cloned(tmp_path, [Version([], BEGIN), Version([0], CHANGED)])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(filter(None, sys.path))}
    return {**kept, "TERM": "xterm", "HOME": str(tmp_path)}


def undo(folder: Path, *words: str) -> int:
    return run(["-C", str(folder), "undo", *(words or ("--yes",))])


@pytest.mark.parametrize(("key", "code"), [("y\n", 0), ("\n", 1), ("no\n", 1), ("\x04", 1), ("\x03", 130)])
def test_it_asks(folder: Path, environment: dict[str, str], key: str, code: int) -> None:
    before, now = tree_of(folder, "HEAD^"), tree_of(folder)
    with Terminal([*GITCFG, "undo"], environment, folder) as terminal:
        shown = plain(terminal.until(r"Undo\? \[y/N\] "))
        assert "changed 2 nodes  1 parameter" in shown
        assert "2 nodes change." in shown
        terminal.type(key)
        assert terminal.end() == code
    assert tree_of(folder) == (now if code else before)


def test_it_asks_of_each_conflict(tmp_path: Path, environment: dict[str, str]) -> None:
    folder = conflicting(tmp_path)
    with Terminal([*GITCFG, "undo", "HEAD~1"], environment, folder) as terminal:
        terminal.until(r"group Workers: START was changed again since(.|\n)*\[o/t/Q\] ")
        terminal.type("what?\n")
        terminal.until(r"what\?(.|\n)*\[o/t/Q\] ")
        terminal.type("t\n")
        terminal.until(r"node n2 was removed since(.|\n)*\[o/t/Q\] ")
        terminal.type("o\n")
        terminal.until(r"Undo\? \[y/N\] ")
        terminal.type("y\n")
        assert terminal.end() == 0
    assert (folder / WORKERS).read_text() == BEGIN[WORKERS]
    assert not (folder / "nodes/n2.yaml").exists()


def test_who_quits_changes_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    folder = conflicting(tmp_path)
    was = state(folder)
    with Terminal([*GITCFG, "undo", "HEAD~1"], environment, folder) as terminal:
        terminal.until(r"\[o/t/Q\] ")
        terminal.type("q\n")
        assert terminal.end() == 1
    assert state(folder) == was


def test_without_a_terminal_nobody_is_asked(folder: Path, environment: dict[str, str]) -> None:
    was = state(folder)
    done = subprocess.run(
        [*GITCFG, "undo"], env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True
    )
    assert done.returncode == 2
    assert b"hint: Use --yes" in done.stderr
    assert state(folder) == was


def touched(folder: Path) -> None:
    (folder / WORKERS).write_text(CHANGED[WORKERS] + "# mine\n")


def staged(folder: Path) -> None:
    touched(folder)
    git(folder, "add", WORKERS)
    (folder / WORKERS).write_text(CHANGED[WORKERS])


def removed(folder: Path) -> None:
    (folder / WORKERS).unlink()


@pytest.mark.parametrize("change", [touched, staged, removed])
def test_unsaved_work_is_not_lost(folder: Path, change: object) -> None:
    assert callable(change)
    change(folder)
    was = state(folder)
    assert undo(folder) == 4
    assert state(folder) == was


def test_what_lies_where_a_file_comes_back_is_not_lost(tmp_path: Path) -> None:
    less = {path: text for path, text in BEGIN.items() if path != "nodes/n2.yaml"}
    folder = cloned(tmp_path, [Version([], BEGIN), Version([0], less)])
    (folder / ".gitignore").write_text("n2.yaml\n")
    (folder / "nodes/n2.yaml").write_text("# ignored, but mine\n")
    assert undo(folder, "--yes", "--force") == 4
    assert (folder / "nodes/n2.yaml").read_text() == "# ignored, but mine\n"


def test_other_work_stays_as_it_is(folder: Path) -> None:
    (folder / "nodes/n1.yaml").write_text(BEGIN["nodes/n1.yaml"] + "# staged\n")
    git(folder, "add", "nodes/n1.yaml")
    (folder / "nodes/n1.yaml").write_text(BEGIN["nodes/n1.yaml"] + "# staged\n# and more\n")
    (folder / "new").write_text("new\n")
    assert undo(folder) == 0
    assert tree_of(folder) == tree_of(folder, "HEAD~2")
    assert git(folder, "status", "--porcelain").splitlines() == ["MM nodes/n1.yaml", "?? new"]


def hook(folder: Path, name: str, script: str) -> None:
    place = folder / ".git/hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)


def test_hooks_are_asked(folder: Path, tmp_path: Path) -> None:
    hook(folder, "pre-commit", f"git diff --cached --name-only HEAD > {tmp_path}/staged")
    hook(folder, "prepare-commit-msg", 'echo "Ticket: 7" >> "$1"')
    hook(folder, "commit-msg", f'cat "$1" > {tmp_path}/message')
    hook(folder, "post-commit", f"git rev-parse HEAD > {tmp_path}/after")
    assert undo(folder) == 0
    assert (tmp_path / "staged").read_text() == f"{WORKERS}\n"
    assert "Ticket: 7" in (tmp_path / "message").read_text()
    assert git(folder, "log", "-1", "--format=%B").rstrip().endswith("Ticket: 7")
    assert (tmp_path / "after").read_text() == git(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("name", "script"),
    [("pre-commit", "exit 1"), ("commit-msg", "exit 1"), ("pre-commit", f"echo >> {WORKERS}; git add .")],
)
def test_a_hook_may_refuse(folder: Path, name: str, script: str) -> None:
    hook(folder, name, script)
    head = git(folder, "rev-parse", "HEAD")
    assert undo(folder) == 4
    assert git(folder, "rev-parse", "HEAD") == head
    git(folder, "checkout", "-q", "HEAD", "--", ".")
    assert undo(folder, "--yes", "--no-verify") == 0


def test_a_merge_needs_a_side(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(folder, "switch", "-qc", "topic", "HEAD~1")
    (folder / "nodes/n3.yaml").write_text("groups: [Workers]\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "A node")
    git(folder, "switch", "-q", "main")
    git(folder, "merge", "-q", "--no-edit", "topic")
    was = state(folder)
    assert undo(folder) == 2
    told = capfd.readouterr().err
    assert "--mainline 1 goes back to" in told
    assert "(A node)" in told
    assert undo(folder, "--yes", "--mainline", "3") == 2
    assert state(folder) == was
    assert undo(folder, "--yes", "--force", "--mainline", "2") == 0
    assert tree_of(folder) == tree_of(folder, "topic")
    assert "reversing\nchanges made to" in git(folder, "log", "-1", "--format=%B")


@pytest.mark.parametrize(
    "asked", ["HEAD..HEAD", "HEAD..HEAD~1", "HEAD...HEAD~1", "gone", "HEAD~9..", "other"]
)
def test_what_cannot_be_undone_is_refused(folder: Path, asked: str) -> None:
    git(folder, "branch", "other", git(folder, "commit-tree", "HEAD^{tree}", "-m", "x").strip())
    was = state(folder)
    assert undo(folder, asked, "--yes") == 2
    assert state(folder) == was


def test_the_first_commit_is_all_there_is(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(folder, "checkout", "-q", "HEAD~1")
    was = state(folder)
    assert undo(folder) == 1
    assert "would have no gitcfg.yaml" in capfd.readouterr().err
    assert state(folder) == was


def test_without_commits_and_without_files_there_is_nothing_to_undo(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q", "empty")
    (tmp_path / "empty/gitcfg.yaml").write_text("format: 1\n")
    assert undo(tmp_path / "empty") == 2
    assert "There is no commit yet" in capfd.readouterr().err
    cloned(tmp_path, [Version([], BEGIN)])
    assert undo(tmp_path / "bare") == 2
    assert "hint: Work in a clone" in capfd.readouterr().err


def test_in_the_middle_of_something_nothing_is_undone(folder: Path) -> None:
    (folder / ".git/MERGE_HEAD").write_text(git(folder, "rev-parse", "HEAD~1"))
    assert undo(folder) == 4


def test_a_lock_is_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / ".git/index.lock").touch()
    was = state(folder)
    assert undo(folder) == 4
    assert "Remove the lock" in capfd.readouterr().err
    assert {path: text for path, text in state(folder).items() if path in was} == was


def test_what_git_fails_at_in_between_is_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As on a full disk: some files are written, and then one cannot be."""
    head = git(folder, "rev-parse", "HEAD")
    for setting, value in (("smudge", "false"), ("clean", "cat"), ("required", "1")):
        git(folder, "config", f"filter.no.{setting}", value)
    (folder / ".git/info").mkdir(exist_ok=True)
    (folder / ".git/info/attributes").write_text(f"{WORKERS} filter=no\n")
    assert undo(folder) == 4
    told = capfd.readouterr().err
    assert "git cannot update the files" in told
    assert ("Nothing was changed." in told) is not bool(git(folder, "status", "--porcelain"))
    assert git(folder, "rev-parse", "HEAD") == head


def test_linked_work_trees_have_branches_of_their_own(folder: Path, tmp_path: Path) -> None:
    git(folder, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    was = state(folder)
    assert undo(tmp_path / "linked") == 0
    assert tree_of(folder, "side") == tree_of(folder, "main~1")
    assert git(tmp_path / "linked", "status", "--porcelain") == ""
    assert (folder / WORKERS).read_text() == CHANGED[WORKERS]
    assert {path for path in was if not path.startswith(".git")} == {
        path for path in state(folder) if not path.startswith(".git")
    }


def test_a_shallow_clone_says_what_it_lacks(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{folder}", "shallow")
    assert undo(tmp_path / "shallow") == 2
    assert "git fetch --deepen=1" in capfd.readouterr().err
    git(tmp_path / "shallow", "fetch", "-q", "--deepen=1")
    shutil.copy(folder / ".git/config", tmp_path / "shallow/.git/config")
    assert undo(tmp_path / "shallow") == 0


def test_commits_are_signed_if_git_is_told_to(folder: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    for setting, value in (
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("commit.gpgSign", "true"),
        ("tag.gpgSign", "true"),
    ):
        git(folder, "config", setting, value)
    assert undo(folder) == 0
    assert run(["-C", str(folder), "snapshot", "create", "signed"]) == 0
    assert "gpgsig" in git(folder, "cat-file", "commit", "HEAD")
    assert "BEGIN SSH SIGNATURE" in git(folder, "cat-file", "tag", "snapshot/signed")
