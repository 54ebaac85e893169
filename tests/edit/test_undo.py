"""Undoing as a merge: random histories come back as they were, refusals change nothing, and kills neither."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.cli.main import run
from gitcfg.cli.undo import Reply, Undo
from gitcfg.edit.merge import find_clashes, is_merged
from gitcfg.git.repository import Repository
from gitcfg.git.revert import Proposal, Side, find_span
from gitcfg.git.revert import revert as undone
from gitcfg.git.tree import Tree
from tests.history.histories import Version, histories, imported
from tests.history.runs import FEW, MANY
from tests.properties.strategies import Files
from tests.seeds import many, mostly_slow
from tests.work.versions import versions

WORKERS = "groups/Workers.yaml"
BEGIN: Files = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  START: {type: string, description: a}\n"
    "  MAX: {type: string}\n  OTHER: {type: list}\n",
    WORKERS: "params:\n  START: one\n  OTHER: {$append: x}\n  MAX: m1\n",
    "nodes/n1.yaml": "groups: [Workers]\n",
    "nodes/n2.yaml": "groups: [Workers]\n",
}


def git(folder: Path, *words: str) -> str:
    call = ["git", "-C", str(folder), *words]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout


def cloned(place: Path, history: Sequence[Version], prefix: str = "") -> Path:
    """A work tree at the last of some versions."""
    imported(place / "bare", history, prefix)
    git(place, "clone", "--quiet", str(place / "bare"), "tree")
    for setting, value in (("user.name", "Ann"), ("user.email", "ann@example.org")):
        git(place / "tree", "config", setting, value)
    return place / "tree"


def state(folder: Path) -> dict[str, bytes]:
    """Every file, git's own too; of git's objects nothing, for those may come that nothing leads to."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {"objects", "gitcfg"} & set(path.relative_to(folder).parts[:2])
    }


def tree_of(folder: Path, revision: str = "HEAD") -> str:
    return git(folder, "rev-parse", f"{revision}^{{tree}}").strip()


def taken(text: str) -> Files:
    """The beginning with a group that says something else."""
    return {**BEGIN, WORKERS: text}


def proposed(repository: Repository, asked: str, head: str, mainline: int | None = None) -> Proposal:
    found, conflicts = undone(repository, find_span(repository, asked, mainline, head), head, {})
    assert found is not None, conflicts
    return found


def tips_come_back(place: Path, history: Sequence[Version]) -> None:
    """Undoing any commit where it is the tip gives the tree of each of its parents; so do ranges."""
    commits = imported(place / "bare", history)
    repository = Repository.served(place / "bare")
    for commit, version in zip(commits, history, strict=True):
        for number, parent in enumerate(version.parents, start=1):
            one = number if len(version.parents) > 1 else None
            assert proposed(repository, commit, commit, one).write() == tree(repository, commits[parent])
        before = next(iter(version.parents), None)
        while before is not None:
            found = proposed(repository, f"{commits[before]}..{commit}", commit)
            assert found.write() == tree(repository, commits[before])
            before = next(iter(history[before].parents), None)


def tree(repository: Repository, commit: str) -> str:
    return str(repository.git_or_error()[commit].peel(pygit2.Tree).id)


@pytest.mark.slow
@FEW
@given(histories())
def test_undone_at_the_tip_every_commit_leaves_what_was_before(
    tmp_path_factory: pytest.TempPathFactory, history: list[Version]
) -> None:
    tips_come_back(tmp_path_factory.mktemp("h"), history)


@pytest.mark.slow
@MANY
@given(histories())
def test_it_does_in_many_histories(tmp_path_factory: pytest.TempPathFactory, history: list[Version]) -> None:
    tips_come_back(tmp_path_factory.mktemp("h"), history)


def any_is_undone(place: Path, history: Sequence[Version]) -> None:
    """From the last commit on: what nobody has touched since is as it was, what clashes as one says."""
    commits = imported(place / "bare", history)
    repository, head = Repository.served(place / "bare"), commits[-1]
    git = repository.git_or_error()
    for commit, version in zip(commits, history, strict=True):
        one = 1 if len(version.parents) > 1 else None
        if not git.descendant_of(head, commit):
            continue
        undoing = Undo(repository, find_span(repository, commit, one, head), head)
        ours = undoing.proposed({}, lambda _: Reply(Side.OURS)).tree()
        theirs = undoing.proposed({}, lambda _: Reply(Side.THEIRS)).tree()
        before = history[version.parents[0]].files if version.parents else {}
        for path in sorted(before.keys() | version.files.keys()):
            stands = version.files.get(path) == history[-1].files.get(path) != before.get(path)
            if stands and not may_be_moved(path, before, version.files):
                assert held(theirs, path) == before.get(path)
                assert held(ours, path) in (before.get(path), history[-1].files.get(path))


def may_be_moved(path: str, before: Files, after: Files) -> bool:
    """Did a file come and another one go? git may take them for one, and what it says since moves with it."""
    come, gone = after.keys() - before.keys(), before.keys() - after.keys()
    return path in come | gone and bool(come) and bool(gone)


def held(tree: Tree, path: str) -> str | None:
    entry = tree.entry(path)
    return tree.read(entry).decode() if entry is not None else None


@pytest.mark.slow
@FEW
@given(histories())
def test_of_any_commit_all_is_undone_that_stands_yet(
    tmp_path_factory: pytest.TempPathFactory, history: list[Version]
) -> None:
    any_is_undone(tmp_path_factory.mktemp("h"), history)


@pytest.mark.slow
@MANY
@given(histories())
def test_of_any_commit_of_many_histories(
    tmp_path_factory: pytest.TempPathFactory, history: list[Version]
) -> None:
    any_is_undone(tmp_path_factory.mktemp("h"), history)


@pytest.mark.parametrize("seed", many(3, 1))
def test_undo_and_undo_of_that(seed: int, tmp_path: Path) -> None:
    """By the command, with files and index: the tree before, then the tree again."""
    folder = cloned(tmp_path, versions(seed, 4))
    before, after = tree_of(folder, "HEAD^"), tree_of(folder)
    for tree in (before, after) if before != after else ():
        assert run(["-C", str(folder), "undo", "--yes", "--force"]) == 0
        assert tree_of(folder) == tree == git(folder, "write-tree").strip()
        assert git(folder, "status", "--porcelain") == ""


def test_what_brings_errors_is_refused_and_changes_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fixed = taken("features: []\n")
    folder = cloned(tmp_path, [Version([], taken("features: [Gone]\n")), Version([0], fixed)])
    git(folder, "status")
    was = state(folder)
    assert run(["-C", str(folder), "undo", "--yes"]) == 1
    assert "error[GC20" in capfd.readouterr().out
    assert state(folder) == was
    assert run(["-C", str(folder), "undo", "--dry-run", "--force"]) == 0
    assert state(folder) == was
    assert run(["-C", str(folder), "undo", "--yes", "--force"]) == 0
    assert tree_of(folder) == tree_of(folder, "HEAD~2")


def test_what_was_wrong_before_is_no_reason_to_refuse(tmp_path: Path) -> None:
    wrong = {**BEGIN, "groups/other.yaml": "features: [Gone]\n"}
    folder = cloned(tmp_path, [Version([], wrong), Version([0], {**wrong, WORKERS: "params: {MAX: m2}\n"})])
    assert run(["-C", str(folder), "undo", "--yes"]) == 0


def conflicting(place: Path, prefix: str = "") -> Path:
    """START and a node's file are changed twice, the first time one commit before the last."""
    second = taken("params:\n  START: two\n  OTHER: {$append: x}\n  MAX: m1\n")
    second["nodes/n2.yaml"] = "groups: [Workers]\nparams: {START: x}\n"
    third = taken("params:\n  START: three\n  OTHER: {$append: x}\n  MAX: m1\n")
    del third["nodes/n2.yaml"]
    history = [Version([], BEGIN), Version([0], second), Version([1], third)]
    return cloned(place, history, prefix)


@pytest.mark.parametrize("prefix", ["", "pools/one/"])
def test_conflicts_are_told_by_entity(tmp_path: Path, prefix: str, capfd: pytest.CaptureFixture[str]) -> None:
    folder = conflicting(tmp_path, prefix)
    was, commit = state(folder), git(folder, "rev-parse", "--short=10", "HEAD").strip()
    assert run(["-C", str(folder / prefix), "undo", "HEAD~1", "--yes"]) == 1
    told = capfd.readouterr().err
    assert (
        f"group Workers: START was changed again since, in {commit} by Ann (now three; undo would give one)"
    ) in told
    assert f"node n2 was removed since, in {commit} by Ann; undo would change it" in told
    assert state(folder) == was


@pytest.mark.parametrize(
    ("options", "value", "node"),
    [
        (["--ours", "group/Workers", "--theirs", "node/n2"], "three", True),
        (["--theirs", "group/Workers", "--ours", "node/n2"], "one", False),
    ],
)
def test_conflicts_are_settled_by_entity(tmp_path: Path, options: list[str], value: str, node: bool) -> None:
    folder = conflicting(tmp_path)
    assert run(["-C", str(folder), "undo", "HEAD~1", "--yes", *options]) == 0
    assert f"START: {value}" in (folder / WORKERS).read_text()
    assert (folder / "nodes/n2.yaml").exists() is node


@pytest.mark.parametrize(
    "options",
    [
        ["--ours", "group/Workers"],
        ["--ours", "group/Workers", "--theirs", "node/n3"],
        ["--ours", "group/Workers", "--theirs", "group/Workers"],
    ],
)
def test_what_is_not_settled_is_refused(tmp_path: Path, options: list[str]) -> None:
    folder = conflicting(tmp_path)
    was = state(folder)
    assert run(["-C", str(folder), "undo", "HEAD~1", "--yes", *options]) in (1, 2)
    assert state(folder) == was


def test_every_conflict_of_lines_is_told_of_an_entity() -> None:
    """Whatever three versions are: there is an entity to settle."""
    texts = [None, b"", b"params: {A: 1}\n", b"params: {A: 2, B: 1}\n", b"# c\nparams: {A: 1}\n", b"{broken"]
    paths = ["groups/a/W.yaml", "parameters/p.yaml", "templates/t", "README", "gitcfg.yaml", "nodes/x"]
    for path in paths:
        for sides in ((a, b, c) for a in texts for b in texts for c in texts if {a, b, c} != {None}):
            assert find_clashes(path, *sides), (path, sides)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from("ABC"), st.integers(0, 2)), st.data())
@settings(max_examples=60)
def test_what_is_told_to_clash_does(base: Mapping[str, int], data: st.DataObject) -> None:
    """A parameter is told to have been changed twice exactly if both sides have made something else of it."""
    ours, theirs = (data.draw(st.dictionaries(st.sampled_from("ABC"), st.integers(0, 2))) for _ in "12")
    written = (
        "".join(f"  {name}: {value}\n" for name, value in side.items()) for side in (base, ours, theirs)
    )
    found = find_clashes(
        WORKERS, *(f"description: d\nparams:\n{text or '  {}'}\n".encode() for text in written)
    )
    both = {
        name
        for name in "ABC"
        if ours.get(name) != theirs.get(name) and base.get(name) not in (ours.get(name), theirs.get(name))
    }
    assert {clash.what for clash in found if clash.key and not clash.beside} == both


SETS = st.dictionaries(st.sampled_from("ABCD"), st.integers(0, 2))


@given(SETS, SETS, SETS)
@settings(max_examples=60)
def test_a_text_fits_that_says_what_both_sides_made_of_it(
    base: dict[str, int], ours: dict[str, int], theirs: dict[str, int]
) -> None:
    """By the parameters themselves, each taken from the side that has changed it; any other text does not."""
    sides = (written(base), written(ours), written(theirs))
    clashing = {
        name
        for name in "ABCD"
        if ours.get(name) != theirs.get(name) and base.get(name) not in (ours.get(name), theirs.get(name))
    }
    found = {}
    for name in "ABCD":
        side = theirs if ours.get(name) == base.get(name) else ours
        if name in side:
            found[name] = side[name]
    assert is_merged(WORKERS, sides, written(found)) is not bool(clashing)
    assert not is_merged(WORKERS, sides, written({**found, "E": 1}))


def written(params: Mapping[str, int]) -> bytes:
    """A group with these parameters."""
    return "".join(["params:\n", *(f"  {name}: {value}\n" for name, value in params.items())]).encode()


def test_parameters_beside_each_other_are_no_conflict(tmp_path: Path) -> None:
    """What lines cannot tell apart, the file's entities can: START goes back, MAX and OTHER stay."""
    begin = taken("params:\n  START: one\n  MAX: m1\n  # remark\n  OTHER: {$append: x}\n")
    second = {**begin, WORKERS: begin[WORKERS].replace("one", "two")}
    third = {**begin, WORKERS: second[WORKERS].replace("m1", "m2").replace("append: x", "append: y")}
    folder = cloned(tmp_path, [Version([], begin), Version([0], second), Version([1], third)])
    assert run(["-C", str(folder), "undo", "HEAD~1", "--yes"]) == 0
    assert (folder / WORKERS).read_text() == third[WORKERS].replace("two", "one")


def test_sides_count_where_a_file_was_moved(tmp_path: Path) -> None:
    """The same group in another folder: who moved it since, and who changed it, both are heeded."""
    changed = taken(BEGIN[WORKERS].replace("one", "two"))
    moved = dict(changed)
    moved["groups/rack/Workers.yaml"] = moved.pop(WORKERS)
    folder = cloned(tmp_path, [Version([], BEGIN), Version([0], changed), Version([1], moved)])
    repository = Repository.open(folder)
    found = proposed(repository, "HEAD~1", git(folder, "rev-parse", "HEAD").strip()).tree()
    entry = found.entry("groups/rack/Workers.yaml")
    assert entry is not None
    assert found.read(entry).decode() == BEGIN[WORKERS]


@pytest.mark.parametrize("later", ["renamed", "removed"])
def test_what_both_sides_have_no_more_is_no_conflict(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], later: str
) -> None:
    """What a rename made was renamed again, or removed, since: the name between is gone either way."""
    text = "description: Machines that do all the work that there is.\nparams: {START: one, MAX: m1}\n"
    begin = {**taken("{}\n"), "groups/Old.yaml": text}
    between = {**taken("{}\n"), "groups/Between.yaml": text}
    last = {**taken("{}\n"), **({"groups/New.yaml": text} if later == "renamed" else {})}
    folder = cloned(tmp_path, [Version([], begin), Version([0], between), Version([1], last)])
    assert run(["-C", str(folder), "undo", "HEAD~1", "--yes"]) == 1
    told = capfd.readouterr().err
    assert "Between" not in told
    assert "group Old was removed since; undo would restore it\n" in told
    assert ("group New was added since, in " in told) == (later == "renamed")
    answers = ["--theirs", "group/Old", *(["--ours", "group/New"] if later == "renamed" else [])]
    assert run(["-C", str(folder), "undo", "HEAD~1", "--yes", *answers]) == 0
    assert {path.name for path in (folder / "groups").iterdir()} == {
        *("Old.yaml", "Workers.yaml"),
        *(["New.yaml"] if later == "renamed" else []),
    }
    assert (folder / "groups/Old.yaml").read_text() == text


class Killed:
    """gitcfg at undoing and redoing the last commit, killed; git goes on alone, or never began."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self.rng = rng
        self.environment = {**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))}
        self.seconds = self.timed()

    def begun(self) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", "gitcfg", "-C", str(self.folder), "undo", "--yes", "--force"]
        where = subprocess.DEVNULL
        return subprocess.Popen(
            words, env=self.environment, stdout=where, stderr=where, start_new_session=True
        )

    def timed(self) -> float:
        start = time.monotonic()
        assert self.begun().wait() == 0
        return time.monotonic() - start

    def once(self) -> bool:
        """Was it killed? Then everything is as it was, or as it was to be."""
        before, after = tree_of(self.folder), tree_of(self.folder, "HEAD^")
        process = self.begun()
        time.sleep(self.seconds * self.rng.uniform(0.3, 1.1))
        with suppress(ProcessLookupError):  # the whole group, as who closes a session does
            os.killpg(process.pid, signal.SIGKILL)
        killed = process.wait() == -signal.SIGKILL
        self.settled()
        assert tree_of(self.folder) in (before, after)
        return killed

    def settled(self) -> None:
        """What git was at is done. AssertionError: files, index and HEAD are not of one commit."""
        end = time.monotonic() + 60
        while (self.folder / ".git/index.lock").exists() or git(self.folder, "status", "--porcelain"):
            assert time.monotonic() < end, git(self.folder, "status", "--porcelain")
            time.sleep(0.05)


def killed_often(place: Path, times: int, seed: int) -> None:
    other = {**BEGIN, **{f"nodes/m{number}.yaml": "groups: [Workers]\n" for number in range(400)}}
    changed = {path: text.replace("[Workers]", "[Workers]  # again") for path, text in other.items()}
    folder = cloned(place, [Version([], other), Version([0], changed)])
    loop = Killed(folder, random.Random(seed))
    kills = 0
    while kills < times:
        kills += loop.once()


def test_killed_it_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    killed_often(tmp_path, 4, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_slow(many(2, 2)))
def test_killed_often_it_leaves_the_old_or_the_new(tmp_path: Path, seed: int) -> None:
    killed_often(tmp_path, 40, seed)
