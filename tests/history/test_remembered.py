"""Logs that are remembered are those that are worked out, from whatever commit on."""

import os
import subprocess
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.cache import FolderCache as Cache
from gitcfg.git.repository import Repository
from gitcfg.history import log as walk
from gitcfg.history.effect import Effect
from gitcfg.history.log import Logs, Question, Subject
from tests.history.histories import Version, histories, imported
from tests.history.runs import FEW

QUESTIONS = (
    Question(Subject.NODE, "n1"),
    Question(Subject.NODE, "s1", "STR"),
    Question(Subject.PARAM, "STR"),
    Question(Subject.FEATURE, "A"),
    Question(Subject.GROUP, "G"),
)
LINE = [
    Version([], {"gitcfg.yaml": "format: 1\n"}),
    Version([0], {"gitcfg.yaml": "format: 1\n", "nodes/n1.yaml": "params: {A: 1}\n"}),
    Version([1], {"gitcfg.yaml": "format: 1\n", "nodes/n1.yaml": "params: {A: 2}\n"}),
    Version(
        [2], {"gitcfg.yaml": "format: 1\n", "nodes/n1.yaml": "params: {A: 2}\n", "groups/g.yaml": "{}\n"}
    ),
    Version([3], {"gitcfg.yaml": "format: 1\n", "nodes/n1.yaml": "params: {A: 3, B: 1}\n"}),
]
NODE = QUESTIONS[0]


@FEW
@given(versions=histories(), seed=st.integers(0, 1 << 30))
def test_remembered_and_worked_out_are_the_same(versions: list[Version], seed: int) -> None:
    rng = Random(seed)
    with TemporaryDirectory() as folder:
        ids = imported(Path(folder) / "r.git", versions)
        repository = Repository.open(Path(folder) / "r.git")
        cache = Cache(Path(folder) / "kept", os.geteuid())
        for _ in range(8):
            tip, question = rng.choice([*ids, ids[-1]]), rng.choice(QUESTIONS)
            limit = rng.choice((None, None, 1, 3))
            known = Logs(repository, tip, cache).log(question, limit)
            whole = Logs(repository, tip).log(question)
            assert known.entries == whole.entries[:limit]
            assert known.tip == tip


@pytest.fixture
def line(tmp_path: Path) -> tuple[Repository, Cache, list[str]]:
    ids = imported(tmp_path / "r.git", LINE)
    return Repository.open(tmp_path / "r.git"), Cache(tmp_path / "kept", os.geteuid()), ids


Line = tuple[Repository, Cache, list[str]]


def listed(logs: Logs, question: Question = NODE, limit: int | None = None) -> list[str]:
    return [entry.commit.commit for entry in logs.log(question, limit).entries]


def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commits that are looked at from now on."""
    seen: list[str] = []
    visit = walk.Walk.visit

    def watching(self: walk.Walk, commit: str) -> Effect | None:
        seen.append(commit)
        return visit(self, commit)

    monkeypatch.setattr(walk.Walk, "visit", watching)
    return seen


def test_what_is_remembered_is_not_worked_out_again(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, cache, ids = line
    first = listed(Logs(repository, "main", cache))
    monkeypatch.setattr(walk, "steps", None)
    assert listed(Logs(repository, "main", cache)) == first == [ids[4], ids[2], ids[1]]
    assert listed(Logs(repository, "main", cache), limit=2) == first[:2]


def test_only_new_commits_are_looked_at(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, cache, ids = line
    assert listed(Logs(repository, ids[3], cache)) == [ids[2], ids[1]]
    seen = watched(monkeypatch)
    assert listed(Logs(repository, ids[4], cache)) == [ids[4], ids[2], ids[1]]
    assert listed(Logs(repository, ids[2], cache)) == [ids[2], ids[1]]
    assert listed(Logs(repository, ids[4], cache)) == [ids[4], ids[2], ids[1]]
    assert seen == [ids[4]]


def test_a_few_are_found_without_going_to_the_beginning(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, cache, ids = line
    seen = watched(monkeypatch)
    assert listed(Logs(repository, "main", cache), limit=1) == [ids[4]]
    assert seen == [ids[4]]


def test_a_commit_that_is_gone_is_forgotten(line: Line, tmp_path: Path) -> None:
    repository, cache, _ = line
    listed(Logs(repository, "main", cache))
    ids = imported(tmp_path / "other.git", [Version([], LINE[1].files)])
    other = Repository.open(tmp_path / "other.git")
    assert listed(Logs(other, "main", cache)) == ids


def test_a_spoilt_memory_is_not_believed(line: Line, tmp_path: Path) -> None:
    repository, cache, ids = line
    listed(Logs(repository, "main", cache))
    for place in (tmp_path / "kept").iterdir():
        data = place.read_bytes()
        place.write_bytes(data.replace(ids[4].encode(), ids[3].encode()))
    assert listed(Logs(repository, "main", cache)) == [ids[4], ids[2], ids[1]]


def test_what_begins_where_a_clone_was_cut_off_is_not_remembered(line: Line, tmp_path: Path) -> None:
    _, cache, ids = line
    source = f"file://{tmp_path / 'r.git'}"
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", "--depth=2", source, "part.git"], cwd=tmp_path, check=True
    )
    part = Repository.open(tmp_path / "part.git")
    assert listed(Logs(part, "main", cache)) == [ids[4], ids[3]]
    subprocess.run(["git", "fetch", "--quiet", "--unshallow"], cwd=tmp_path / "part.git", check=True)
    whole = Repository.open(tmp_path / "part.git")
    assert listed(Logs(whole, "main", cache)) == [ids[4], ids[2], ids[1]]


def test_folders_of_one_git_repository_are_remembered_apart(tmp_path: Path) -> None:
    files = {"a/gitcfg.yaml": "format: 1\n", "a/nodes/n1.yaml": "{}\n", "b/gitcfg.yaml": "format: 1\n"}
    ids = imported(
        tmp_path / "r.git", [Version([], files), Version([0], {**files, "b/nodes/n1.yaml": "{}\n"})]
    )
    subprocess.run(["git", "clone", "--quiet", "r.git", "work"], cwd=tmp_path, check=True)
    cache = Cache(tmp_path / "kept", os.geteuid())
    for folder, commit in (("a", ids[0]), ("b", ids[1])):
        for _ in range(2):
            assert listed(Logs(Repository.open(tmp_path / "work" / folder), "HEAD", cache)) == [commit]
