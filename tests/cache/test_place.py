"""Where a repository's cache is, and that there may be none."""

import os
import subprocess
from pathlib import Path

import pytest

from gitcfg.cache import NoCache, open_cache
from gitcfg.git.repository import Repository

USER = os.geteuid()


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "pool"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "gitcfg.yaml").write_text("format: 1\n")
    return folder


def keep(place: Path) -> str | None:
    cache = open_cache(Repository.open(place), USER)
    cache.put("question", "answer")
    return cache.get("question", str)


def test_before_the_first_commit(pool: Path) -> None:
    assert keep(pool) == "answer"
    assert (pool / ".git/gitcfg").is_dir()
    assert subprocess.run(["git", "fsck"], cwd=pool, capture_output=True).returncode == 0


def test_a_bare_repository(pool: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "pool", "bare.git")
    assert keep(tmp_path / "bare.git") == "answer"
    assert (tmp_path / "bare.git/gitcfg").is_dir()


def test_work_trees_share_it(pool: Path, tmp_path: Path) -> None:
    git(pool, "add", "--all")
    git(pool, "commit", "--quiet", "-m", "one")
    git(pool, "worktree", "add", "--quiet", "../second")
    assert keep(tmp_path / "second") == "answer"
    assert open_cache(Repository.open(pool), USER).get("question", str) == "answer"


def test_without_git_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    assert keep(tmp_path) is None
    assert [found.name for found in tmp_path.iterdir()] == ["gitcfg.yaml"]


def test_where_nothing_can_be_written_nothing_is_said(pool: Path) -> None:
    (pool / ".git/gitcfg").touch()  # as a read-only directory, which would not stop root
    assert keep(pool) is None
    assert NoCache().get("question", str) is None


@pytest.mark.skipif(USER == 0, reason="root may write everywhere")
def test_a_read_only_directory(pool: Path) -> None:
    (pool / ".git").chmod(0o500)
    try:
        assert keep(pool) is None
    finally:
        (pool / ".git").chmod(0o700)
