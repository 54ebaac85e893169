"""`gitcfg undo` held against `git revert`: the same tree wherever git is certain, or a reason why not."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given

from gitcfg.cli.main import run
from gitcfg.cli.undo import Undo
from gitcfg.git.repository import Repository
from gitcfg.git.revert import find_span
from gitcfg.model import GitcfgError
from tests.edit.test_undo import cloned, git, tree_of
from tests.history.histories import Version, histories
from tests.history.runs import FEW, MANY
from tests.properties.strategies import Files
from tests.seeds import many, mostly_slow
from tests.work.versions import versions


def reverted(folder: Path, commit: str, *more: str) -> str | None:
    """The tree that `git revert` gives; None: it finds conflicts. Everything is as before then."""
    call = ["git", "-C", str(folder), "revert", "--no-commit", *more, commit]
    done = subprocess.run(call, capture_output=True, check=False)
    tree = git(folder, "write-tree").strip() if done.returncode == 0 else None
    git(folder, "reset", "--quiet", "--hard", "HEAD")
    return tree


def undone(repository: Repository, commit: str, mainline: int | None, head: str) -> str | GitcfgError:
    """The tree that undoing gives, or why there is none."""
    try:
        found = find_span(repository, commit, mainline, head)
        return Undo(repository, found, head).proposed({}, None).write()
    except GitcfgError as error:
        return error


def moved(one: Files, other: Files) -> bool:
    """Has a file come where another one went? Then git may take them for one that moved, or may not."""
    return bool(one.keys() - other.keys()) and bool(other.keys() - one.keys())


def agrees(place: Path, history: Sequence[Version]) -> int:
    """How many commits git reverts to the tree that undoing gives. AssertionError: one it does not.

    git's own merge and libgit2's differ in one thing: which files they take for moved ones, and what they
    make of a file that was moved to where another one comes back. There undo tells that the file was
    changed since, and never gives another tree.
    """
    assume("gitcfg.yaml" in history[-1].files)
    folder = cloned(place, history)
    repository, head = Repository.open(folder), git(folder, "rev-parse", "HEAD").strip()
    same = 0
    for commit, version in zip(commits(folder, len(history)), history, strict=True):
        mainline = 1 if len(version.parents) > 1 else None
        if commit is None:
            continue
        theirs = reverted(folder, commit, *(["--mainline", "1"] if mainline else []))
        ours = undone(repository, commit, mainline, head)
        if theirs is not None and isinstance(ours, GitcfgError):
            before = history[version.parents[0]].files if version.parents else {}
            assert "changed again since" in str(ours)
            assert moved(version.files, before) or moved(version.files, history[-1].files)
        elif theirs is not None:
            assert ours == theirs, commit
            same += 1
    return same


def commits(folder: Path, count: int) -> list[str | None]:
    """The commits in the order of their versions, which is in their messages; None: HEAD has it not."""
    told = (line.split() for line in git(folder, "log", "--format=%s %H").splitlines())
    found = {int(number): commit for _, number, commit in told}
    return [found.get(number) for number in range(count)]


@pytest.mark.slow
@FEW
@given(histories())
def test_undo_gives_what_git_revert_gives(
    tmp_path_factory: pytest.TempPathFactory, history: list[Version]
) -> None:
    assert agrees(tmp_path_factory.mktemp("h"), history)  # the last commit at least


@pytest.mark.slow
@MANY
@given(histories())
def test_it_does_in_many_histories(tmp_path_factory: pytest.TempPathFactory, history: list[Version]) -> None:
    assert agrees(tmp_path_factory.mktemp("h"), history)


def test_a_file_in_the_place_of_another_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """git takes the moved file for the one that comes back, for they hold the same; libgit2 does not."""
    both = {"gitcfg.yaml": "format: 1\n", "groups/G.yaml": "{}\n", "groups/a/G.yaml": "{}\n"}
    less = {path: text for path, text in both.items() if path != "groups/G.yaml"}
    back = {path: text for path, text in both.items() if path != "groups/a/G.yaml"}
    folder = cloned(tmp_path, [Version([], both), Version([0], less), Version([1], back)])
    assert reverted(folder, "HEAD~1") is not None
    assert run(["-C", str(folder), "undo", "HEAD~1", "--yes"]) == 1
    assert "group G was changed again since" in capfd.readouterr().err


@pytest.mark.parametrize("seed", mostly_slow(many(5, 2)))
def test_what_was_undone_is_redone_by_undoing_that(seed: int, tmp_path: Path) -> None:
    """By the command, for every commit but the first: the tree before it is undone comes back."""
    folder = cloned(tmp_path, versions(seed, 4))
    before, head = tree_of(folder), git(folder, "rev-parse", "HEAD").strip()
    for back in range(3):
        if run(["-C", str(folder), "undo", f"HEAD~{back}", "--yes", "--force"]) == 0:
            if git(folder, "rev-parse", "HEAD").strip() != head:
                assert run(["-C", str(folder), "undo", "--yes", "--force"]) == 0
            assert tree_of(folder) == before == git(folder, "write-tree").strip()
        assert git(folder, "status", "--porcelain") == ""
        git(folder, "reset", "--quiet", "--hard", head)
