"""git's index is understood in each of its versions, and what is no index is refused."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from gitcfg.git.index import read_index
from gitcfg.git.repository import Repository
from gitcfg.git.tree import EntryKind
from gitcfg.model import GitcfgError
from tests.git.test_trees import git, write

LONG = "d/" * 1500 + "n" * 200
BLOB = "1" * 40


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "pool"
    folder.mkdir()
    git(folder, "init", "--quiet")
    write(
        folder, {"gitcfg.yaml": "format: 1\n", "groups/a.yaml": "a\n", "groups/ab/c.yaml": "c\n", "z": "z\n"}
    )
    (folder / "groups/link").symlink_to("a.yaml")
    with open(bytes(folder) + b"/groups/\xff", "wb") as file:
        file.write(b"x\n")
    git(folder, "add", "--all")
    for path in (f"groups/{LONG}", f"groups/{LONG * 2}", "groups/aa" + "x" * 4085, "groups/aa" + "x" * 4086):
        git(folder, "update-index", "--add", "--cacheinfo", f"100755,{BLOB},{path}")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{BLOB},groups/module")
    return folder


def told(folder: Path) -> list[tuple[int, str, str]]:
    """What git itself says is staged."""
    done = subprocess.run(["git", "ls-files", "--stage", "-z"], cwd=folder, check=True, capture_output=True)
    lines = os.fsdecode(done.stdout).removesuffix("\0").split("\0")
    parts = [(*line.partition("\t")[0].split(), line.partition("\t")[2]) for line in lines]
    return sorted((int(mode, 8), id, path) for mode, id, _, path in parts)


def found(folder: Path) -> list[tuple[int, str, str]]:
    files = read_index(folder / ".git/index").files
    return sorted((staged.mode, staged.id.hex(), path) for path, staged in files.items())


@pytest.mark.parametrize("version", [2, 3, 4])
def test_each_version(pool: Path, version: int) -> None:
    if version == 3:  # git writes it where it is needed only
        git(pool, "update-index", "--skip-worktree", "groups/a.yaml", "z")
    elif version == 4:
        git(pool, "update-index", "--index-version", "4")
    assert (pool / ".git/index").read_bytes()[7] == version
    assert found(pool) == told(pool)


def test_the_staged_tree(pool: Path) -> None:
    tree = Repository.open(pool).index()
    kinds = {entry.path: entry.kind for entry in tree.entries("groups")}
    assert list(kinds) == sorted(kinds)
    assert kinds["groups/link"] is EntryKind.LINK
    assert kinds["groups/module"] is EntryKind.SUBMODULE
    assert kinds["groups/\\xff"] is kinds[f"groups/{LONG}"] is EntryKind.FILE
    assert [entry.path for entry in tree.entries("groups/ab")] == ["groups/ab/c.yaml"]
    assert not list(tree.entries("z"))


def test_no_index(tmp_path: Path) -> None:
    assert not read_index(tmp_path / "index").files


def test_a_split_index_is_refused_with_a_reason(pool: Path) -> None:
    git(pool, "update-index", "--split-index")
    repository = Repository.open(pool)
    for look in (repository.index, lambda: list(repository.worktree().entries("groups"))):
        with pytest.raises(GitcfgError, match="extension link") as refused:
            look()
        assert "--no-split-index" in refused.value.hints[0]
    git(pool, "update-index", "--no-split-index")
    assert list(repository.index().entries("groups"))


def test_a_hash_that_was_left_out_to_save_time(pool: Path) -> None:
    index = pool / ".git/index"
    whole = read_index(index).files
    index.write_bytes(index.read_bytes()[:-20] + bytes(20))
    assert read_index(index).files == whole


@given(st.data())
def test_a_broken_index_is_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    place = tmp_path_factory.mktemp("broken") / "index"
    whole = _small()
    start = data.draw(st.integers(0, len(whole) - 1))
    new = data.draw(st.binary(max_size=12))
    spoilt = whole[:start] + new + whole[start + data.draw(st.integers(0, 12)) :]
    sealed = data.draw(st.sampled_from(["with its hash", "with a right hash", "without a hash"]))
    if sealed == "with a right hash":
        spoilt = spoilt[:-20] + hashlib.sha1(spoilt[:-20]).digest()
    elif sealed == "without a hash":
        spoilt = spoilt[:-20] + bytes(20)
    place.write_bytes(spoilt)
    try:
        files = read_index(place).files
    except GitcfgError:
        event("refused")
    else:
        assert sealed != "with its hash" or spoilt == whole
        assert all(len(staged.id) == 20 for staged in files.values())


def _small() -> bytes:
    rows = b""
    for path in (b"a", b"b/c", b"d" * 20):
        row = bytes(24) + (0o100644).to_bytes(4, "big") + bytes(12) + b"i" * 20 + len(path).to_bytes(2, "big")
        rows += row + path + bytes(8 - (len(row) + len(path)) % 8)
    body = b"DIRC" + (2).to_bytes(4, "big") + (3).to_bytes(4, "big") + rows + b"TREE" + (4).to_bytes(4, "big")
    body += b"tree"
    return body + hashlib.sha1(body).digest()


def test_the_small_index_is_right(tmp_path: Path) -> None:
    (tmp_path / "index").write_bytes(_small())
    assert list(read_index(tmp_path / "index").files) == ["a", "b/c", "d" * 20]
