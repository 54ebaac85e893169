"""Snapshots: restoring gives the tree that was named, wherever the repository lies, and history stays."""

import json
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from gitcfg.git.revert import Span, revert_message
from tests.cli.published import judge
from tests.edit.test_undo import BEGIN, WORKERS, cloned, git, state, taken, tree_of
from tests.history.histories import Version
from tests.seeds import many
from tests.work.versions import versions


@pytest.mark.parametrize("seed", many(11, 1))
def test_restoring_gives_what_was_named(seed: int, tmp_path: Path) -> None:
    folder = cloned(tmp_path, versions(seed, 4))
    here = ["-C", str(folder)]
    assert run([*here, "snapshot", "create", "old", "--at", "HEAD~2", "-m", "then"]) == 0
    count = int(git(folder, "rev-list", "--count", "HEAD"))
    assert run([*here, "snapshot", "restore", "old", "--yes", "--force"]) == 0
    assert tree_of(folder) == tree_of(folder, "snapshot/old") == git(folder, "write-tree").strip()
    assert git(folder, "status", "--porcelain") == ""
    assert int(git(folder, "rev-list", "--count", "HEAD")) == count + 1
    assert run([*here, "snapshot", "restore", "old", "--yes"]) == 0  # nothing is left to do
    assert int(git(folder, "rev-list", "--count", "HEAD")) == count + 1


def test_only_the_folder_of_the_repository_is_restored(tmp_path: Path) -> None:
    folder = cloned(tmp_path, [Version([], BEGIN), Version([0], taken("params: {MAX: m2}\n"))], "a/pool/")
    (folder / "README").write_text("new\n")
    git(folder, "add", "README")
    git(folder, "commit", "-qm", "beside")
    here = ["-C", str(folder / "a/pool")]
    assert run([*here, "snapshot", "create", "first", "--at", "HEAD~2"]) == 0
    assert run([*here, "snapshot", "restore", "first", "--yes"]) == 0
    assert (folder / "README").read_text() == "new\n"
    assert (folder / "a/pool" / WORKERS).read_text() == BEGIN[WORKERS]


def test_snapshots_are_listed_and_deleted(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    folder = cloned(tmp_path, [Version([], BEGIN)])
    here = ["-C", str(folder), "snapshot"]
    for name in ("b", "2026/spring"):
        assert run([*here, "create", name, "-m", f"What {name} is\n\nmore"]) == 0
    git(folder, "tag", "snapshot/light")
    capfdbinary.readouterr()
    for output in ("json", "jsonl", "yaml"):
        assert run([*here, "list", "-o", output]) == 0
        text = capfdbinary.readouterr().out.decode()
        judge(text, output)
        if output == "json":
            found = json.loads(text)["snapshots"]
    assert [each["name"] for each in found] == ["2026/spring", "b", "light"]
    assert found[1]["message"] == "What b is\n\nmore"
    assert {each["commit"] for each in found} == {git(folder, "rev-parse", "HEAD").strip()}
    assert git(folder, "cat-file", "-t", "snapshot/b").strip() == "tag"
    assert run([*here, "show", "b"]) == 0
    assert b"No node changes." in capfdbinary.readouterr().out
    assert run([*here, "delete", "b"]) == 0
    assert "snapshot/b" not in git(folder, "tag").split()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["create", "one"], 4),
        (["create", "a b"], 2),
        (["create", "a..b"], 2),
        (["create", "one/"], 2),
        (["create", ""], 2),
        (["create", "two", "--at", "gone"], 2),
        (["show", "On"], 2),
        (["delete", "two"], 2),
        (["restore", "two", "--yes"], 2),
        (["restore", "one"], 2),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, words: list[str], code: int) -> None:
    folder = cloned(tmp_path, [Version([], BEGIN), Version([0], taken("params: {MAX: m2}\n"))])
    assert run(["-C", str(folder), "snapshot", "create", "one", "--at", "HEAD~1"]) == 0
    was = state(folder)
    assert run(["-C", str(folder), "snapshot", *words]) == code
    assert state(folder) == was


def test_restoring_what_is_wrong_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = cloned(tmp_path, [Version([], taken("features: [Gone]\n")), Version([0], BEGIN)])
    here = ["-C", str(folder), "snapshot"]
    assert run([*here, "create", "wrong", "--at", "HEAD~1"]) == 0
    was = state(folder)
    assert run([*here, "restore", "wrong", "--yes"]) == 1
    assert "error[GC20" in capfd.readouterr().out
    assert state(folder) == was


def test_a_merge_and_a_revert_are_called_as_git_calls_them() -> None:
    one, two = "1" * 40, "2" * 40
    assert (
        revert_message(Span((one,), one, two, "Do"), None) == f'Revert "Do"\n\nThis reverts commit {one}.\n'
    )
    assert revert_message(Span((one,), one, two, 'Revert "Do"'), " why\n").startswith('Reapply "Do"\n')
    assert revert_message(Span((one,), one, two, 'Reapply "Do"'), None).startswith('Revert "Reapply "Do""\n')
    merge = revert_message(Span((one,), one, two, "Merge", two), "why")
    assert merge == (
        f'Revert "Merge"\n\nThis reverts commit {one}, reversing\nchanges made to {two}.\n\nwhy\n'
    )
