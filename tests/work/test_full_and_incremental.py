"""What was found out before changes no answer: whatever was asked, in whatever order, of whatever version."""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gitcfg.cache import Cache, FolderCache, NoCache
from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet, Source, compare
from tests.compile.fleets import TODAY
from tests.history.histories import Version, imported
from tests.load.keeping import Dictionary
from tests.seeds import many, mostly_slow
from tests.work.answers import changes, changes_at, said, said_at
from tests.work.pools import git
from tests.work.versions import Files, first, next_of, versions

USER = os.geteuid()


class Walk:
    """Versions of a repository as commits, and what is said of each where nothing is kept."""

    def __init__(self, folder: Path, seed: int, count: int) -> None:
        folder.mkdir(exist_ok=True)
        self.commits = imported(folder / "r.git", versions(seed, count))
        self.repository = Repository.open(folder / "r.git")
        self.plain = Source(self.repository, TODAY)
        self.said = {commit: said_at(self.plain, commit) for commit in self.commits}
        self.changes: dict[tuple[str, str], list[str]] = {}

    def source(self, cache: Cache) -> Source:
        """The repository as a new process would open it."""
        return Source(Repository.open(self.repository.root), TODAY, cache)

    def changed(self, old: str, new: str) -> list[str]:
        """What changes where nothing is kept."""
        if (old, new) not in self.changes:
            self.changes[old, new] = changes_at(self.plain, old, new)
        return self.changes[old, new]

    def same(self, cache: Cache, rng: Random, steps: int) -> None:
        """Go to and fro, and ask this or that each time."""
        for commit in [*self.commits, *rng.choices(self.commits, k=steps)]:
            self.step(cache, rng, commit)

    def step(self, cache: Cache, rng: Random, commit: str) -> None:
        """Ask about a commit, and about what leads to it from another one."""
        before = rng.choice(self.commits)
        if rng.random() < 0.7:
            assert said_at(self.source(cache), commit) == self.said[commit]
        if rng.random() < 0.5:
            assert changes_at(self.source(cache), before, commit) == self.changed(before, commit)


def to_and_fro(folder: Path, seed: int, count: int, steps: int) -> None:
    """With answers kept in memory, and on disk."""
    walk = Walk(folder, seed, count)
    walk.same(Dictionary(), Random(seed), steps)
    walk.same(FolderCache(folder / "kept", USER), Random(seed + 1), steps)


@pytest.mark.parametrize("seed", mostly_slow(range(3)))
def test_cold_and_warm_answers_are_the_same(tmp_path: Path, seed: int) -> None:
    to_and_fro(tmp_path, seed, 4, 3)


@pytest.mark.parametrize("seed", mostly_slow(many(100, 4)))
def test_they_are_on_many_ways_too(tmp_path: Path, seed: int) -> None:
    to_and_fro(tmp_path, seed, 10, 12)


class Recording(FolderCache):
    """Knows which questions it was given answers to."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, USER)
        self.folder = folder
        self.asked: set[str] = set()

    def put(self, question: str, answer: Any) -> None:
        self.asked.add(question)
        super().put(question, answer)

    def spoil(self, rng: Random) -> None:
        """Do something to each second answer: what may happen to files, and what another program may put."""
        files = sorted(self.folder.iterdir()) if self.folder.exists() else []
        for place in rng.sample(files, (len(files) + 1) // 2):
            whole = place.read_bytes() or b"x"
            at = rng.randrange(len(whole))
            garbled = whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :]
            place.write_bytes(rng.choice((garbled, whole[:at], b"", rng.choice(files).read_bytes())))
        for question in sorted(self.asked):
            if rng.random() < 0.3:
                super().put(question, rng.choice((None, 7, [], {}, {"a": b"x"}, ["findings"], "text")))


def spoilt(folder: Path, seed: int, count: int, steps: int) -> None:
    """Of what is kept, half is spoilt each time before something is asked."""
    walk, cache, rng = Walk(folder, seed, count), Recording(folder / "kept"), Random(seed)
    for commit in [*walk.commits, *rng.choices(walk.commits, k=steps)]:
        cache.spoil(rng)
        walk.step(cache, rng, commit)


@pytest.mark.parametrize("seed", mostly_slow(range(10, 12)))
def test_spoilt_files_change_no_answer(tmp_path: Path, seed: int) -> None:
    spoilt(tmp_path, seed, 4, 4)


@pytest.mark.parametrize("seed", mostly_slow(many(400, 3)))
def test_they_never_do(tmp_path: Path, seed: int) -> None:
    spoilt(tmp_path, seed, 8, 16)


@pytest.mark.parametrize("seed", [20])
def test_answers_of_another_repository_are_none(tmp_path: Path, seed: int) -> None:
    """Two that are kept together: which one is asked is in no question, only what stands in it."""
    walks = [Walk(tmp_path / str(number), seed + number, 3) for number in range(2)]
    cache, rng = Dictionary(), Random(seed)
    for _ in range(8):
        walk = rng.choice(walks)
        walk.step(cache, rng, rng.choice(walk.commits))


class WorkTree:
    """A repository whose work tree, index and commits are versions of their own."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.cache = FolderCache(folder / "kept", USER)
        self.place = folder / "w"
        self.rng = Random(seed)
        self.known = [first(seed)]
        self.place.mkdir()
        git(self.place, "init", "--quiet")
        self.staged: Files = {}
        self.lie(self.known[0])

    def lie(self, files: Files) -> None:
        """Make the work tree hold these files."""
        present = {place for place in self.place.rglob("*") if place.is_file() and ".git" not in place.parts}
        for place in present - {self.place / path for path in files}:
            place.unlink()
        for path, text in files.items():
            place = self.place / path
            if not place.exists() or place.read_text() != text:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
        self.files = dict(files)

    def stage(self) -> None:
        git(self.place, "add", "--all")
        self.staged = dict(self.files)

    def step(self) -> None:
        """Change something, then ask."""
        what = self.rng.randrange(4)
        if what < 2:
            self.known.append(next_of(self.known, self.rng))
            self.lie(self.known[-1])
        elif what == 2:
            self.stage()
        elif self.staged:
            git(self.place, "commit", "--quiet", "--allow-empty", "-m", "m")
        self.ask()

    def ask(self) -> None:
        """Of the work tree, the index, and what changes from one to the other."""
        source = Source(Repository.open(self.place), TODAY, self.cache)
        head = source.repository.before(source.repository.worktree())
        with Fleet(DictTree(self.files), head, TODAY, NoCache()) as found, source.worktree() as lying:
            assert said(lying) == said(found)
            if not self.staged:
                return
            with Fleet(DictTree(self.staged), head, TODAY, NoCache()) as ours, source.index() as theirs:
                assert said(theirs) == said(ours)
                assert changes(theirs, lying) == changes(ours, found)


@pytest.mark.parametrize("seed", mostly_slow(range(2)))
def test_work_tree_and_index(tmp_path: Path, seed: int) -> None:
    tree = WorkTree(tmp_path, seed)
    for _ in range(6):
        tree.step()


@pytest.mark.parametrize("seed", mostly_slow(many(500, 2)))
def test_work_trees_and_indexes_on_many_ways(tmp_path: Path, seed: int) -> None:
    tree = WorkTree(tmp_path, seed)
    for _ in range(15):
        tree.step()


SMALL = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {P: {type: string, description: d}}\n",
    "groups/g.yaml": "params: {P: a}\n",
    "nodes/n1.yaml": "groups: [g]\n",
    "nodes/n2.yaml": "{}\n",
}


def known(folder: Path, *found: Files) -> tuple[Source, list[str]]:
    """Versions one after the other, and something that keeps what is found out."""
    commits = imported(
        folder / "r.git", [Version([at - 1] if at else [], files) for at, files in enumerate(found)]
    )
    return Source(Repository.open(folder / "r.git"), TODAY, Dictionary()), commits


def test_the_same_files_after_others_are_checked_again(tmp_path: Path) -> None:
    """Which nodes are gone depends on what was there before."""
    less = {path: text for path, text in SMALL.items() if path != "nodes/n2.yaml"}
    source, commits = known(tmp_path, SMALL, less, less)
    for _ in range(2):
        codes = [{finding.code for finding in source.at(commit).findings} for commit in commits]
        assert ["GC511" in found for found in codes] == [False, True, False]


def test_who_is_in_a_group_is_known_of_these_nodes_only(tmp_path: Path) -> None:
    other = {"groups/g.yaml": "params: {P: b}\n"}
    both = SMALL | {"nodes/n2.yaml": "groups: [g]\n"}
    source, commits = known(tmp_path, SMALL, SMALL | other, both | other, both)
    for old, new, nodes in ((0, 1, ("n1",)), (2, 3, ("n1", "n2")), (0, 1, ("n1",))):
        with source.at(commits[old]) as before, source.at(commits[new]) as after:
            assert [change.nodes for change in compare(before, after)] == [nodes]
