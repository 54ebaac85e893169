"""Entries that git's fsck refuses are found as git finds them."""

import subprocess
from pathlib import Path

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.git.fsck import find_unsound_entries, is_refused
from gitcfg.git.repository import Repository

REFUSED = [
    *(
        ".",
        "..",
        ".git",
        ".GIT",
        ".Git",
        "git~1",
        "GIT~1",
        ".git ",
        ".git.",
        ".git . .",
        ".git::$INDEX_ALLOCATION",
    ),
    *(".g\u200cit", "\u200e.git", ".gi\ufefft", "a/b", "a\\.git", "a\\..\\b", ".git\\x"),
]
PLAIN = [
    ".gitignore",
    ".gitattributes",
    "git",
    "git~2",
    "...",
    ".gitx",
    "x.git",
    ".g\u00adit",
    "a.b",
    "\u200c",
]


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_git_checks_out_nowhere(name: str) -> None:
    assert is_refused(name.encode())


@pytest.mark.parametrize("name", PLAIN)
def test_a_name_like_others(name: str) -> None:
    assert not is_refused(name.encode())


class Trees:
    """A repository in which trees are written whatever they hold."""

    def __init__(self, folder: Path) -> None:
        self.git = pygit2.init_repository(folder, bare=True)
        self.blob = self.git.create_blob(b"x")

    def tree(self, *entries: tuple[int, bytes, bytes]) -> bytes:
        data = b"".join(b"%o %s\0" % (mode, name) + id for mode, name, id in entries)
        return bytes(self.git.odb.write(pygit2.enums.ObjectType.TREE, data).raw)

    def commit(self, tree: bytes, *parents: str) -> str:
        lines = [f"tree {tree.hex()}", *(f"parent {parent}" for parent in parents)]
        lines += [f"{role} A <a@b> 1 +0000" for role in ("author", "committer")]
        data = "\n".join((*lines, "", "m")).encode()
        return str(self.git.odb.write(pygit2.enums.ObjectType.COMMIT, data))

    def file(self, name: bytes) -> tuple[int, bytes, bytes]:
        return 0o100644, name, self.blob.raw

    def found(self, *commits: str) -> list[tuple[str, bool]]:
        unsound = find_unsound_entries(Repository.served(self.git.path), commits)
        return [(each.path, each.double) for each in unsound]


def test_each_tree_is_looked_at_once_however_often_it_is_named(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    inner = trees.tree(trees.file(b".git"))
    for _ in range(40):  # 2^40 paths
        inner = trees.tree((0o40000, b"a", inner), (0o40000, b"b", inner))
    assert len(trees.found(trees.commit(inner))) == 1


def test_what_the_parent_has_is_not_looked_at_again(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    bad = trees.tree(trees.file(b".git"))
    first = trees.commit(trees.tree((0o40000, b"old", bad)))
    second = trees.commit(trees.tree(trees.file(b"new"), (0o40000, b"old", bad)), first)
    assert trees.found(second) == []
    moved = trees.commit(trees.tree((0o40000, b"moved", bad)), first)
    assert trees.found(first) == [("old/.git", False)]
    assert trees.found(moved) == [("moved/.git", False)]


def test_two_of_one_name_and_a_link_for_submodules(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    twice = trees.commit(trees.tree(trees.file(b"a"), trees.file(b"a")))
    link = trees.commit(trees.tree((0o120000, b".gitmodules", trees.blob.raw)))
    plain = trees.commit(trees.tree(trees.file(b".gitmodules")))
    assert trees.found(twice) == [("a", True)]
    assert trees.found(link) == [(".gitmodules", False)]
    assert trees.found(plain) == []


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Trees:
    return Trees(tmp_path_factory.mktemp("fsck"))


PIECES = [".git", ".GIT", "git~1", ".", "..", " ", ":", "a", "\u200c", "\\", ".g", "it"]


@given(
    st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join), max_size=30, unique=True)
)
def test_whatever_git_complains_of_is_found(trees: Trees, names: list[str]) -> None:
    ours = {name for name in names if is_refused(name.encode())}
    ids = {name: trees.tree(trees.file(name.encode())).hex() for name in names}
    told = subprocess.run(
        ["git", "-C", trees.git.path, "fsck", "--no-dangling"], capture_output=True, text=True, check=False
    )
    lines = (told.stdout + told.stderr).splitlines()
    theirs = {name for name, id in ids.items() if any(id in line for line in lines)}
    assert theirs <= ours, theirs - ours
    if ".git" in names:
        assert ".git" in theirs
