"""Every entry's id is git's id of the bytes that reading it gives, whatever git has done with the file."""

import hashlib
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pygit2
import pytest

from gitcfg.git import worktree as disk
from gitcfg.git.index import read_index
from gitcfg.git.repository import Repository
from gitcfg.git.tree import (
    NO_ID,
    SUBMODULE,
    Content,
    DictTree,
    EntryKind,
    Symlink,
    Tree,
    blob_id,
    fingerprint,
)
from gitcfg.model import GitcfgError
from tests.git.test_trees import git, write

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "files/crlf.txt": "a\r\nb\r\n",
    "files/lf.txt": "a\nb\n",
    "files/id.txt": "$Id$\n",
    "files/empty": "",
    "files/deep/er/b.yaml": "params: {}\n",
}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "pool"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for path, text in FILES.items():
        write(folder, {path: ""})
        (folder / path).write_bytes(text.encode())
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "one")
    age(folder)


def age(folder: Path) -> None:
    """As if the index had been written long after all files."""
    index = folder / ".git/index"
    later = index.stat().st_mtime_ns + 10 * 10**9
    os.utime(index, ns=(later, later))


def ids(tree: Tree, folder: str = "files") -> dict[str, str]:
    return {entry.path: entry.id for entry in tree.entries(folder)}


def true(folder: Path) -> dict[str, str]:
    """What git says of the very bytes on disk."""
    paths = sorted(str(path.relative_to(folder)) for path in (folder / "files").rglob("*") if path.is_file())
    return {path: git(folder, "hash-object", "--no-filters", path) for path in paths}


def worktree(folder: Path) -> Tree:
    return Repository.open(folder).worktree()


def test_all_trees_give_the_same_ids(pool: Path) -> None:
    repository = Repository.open(pool)
    trees = [repository.at("HEAD"), repository.index(), repository.worktree(), DictTree(FILES)]
    for tree in trees:
        assert ids(tree) == true(pool)
        settings = tree.entry("gitcfg.yaml")
        assert settings is not None
        assert settings.id == blob_id(b"format: 1\n")
        assert all(blob_id(tree.read(entry)) == entry.id for entry in tree.entries("files"))
        assert all(len(tree.read(entry)) == entry.size for entry in tree.entries("files"))
    assert len({fingerprint(tree, ("files", "gitcfg.yaml")) for tree in trees}) == 1


def test_clean_files_are_not_read(pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    blocks = disk._read_blocks

    def noted(place: str) -> Iterator[bytes]:
        read.append(place)
        return blocks(place)

    monkeypatch.setattr(disk, "_read_blocks", noted)
    (pool / "files/lf.txt").write_bytes(b"b\na\n")
    assert ids(worktree(pool)) == true(pool)
    assert read == [str(pool / "files/lf.txt")]


@pytest.mark.parametrize("attempt", range(12))
def test_what_changes_in_the_moment_it_is_staged(pool: Path, attempt: int) -> None:
    place, index = pool / "files/lf.txt", pygit2.Repository(str(pool)).index
    for text in ("0\n", "1\n"):
        place.write_text(f"{attempt} {text}")
        if text == "0\n":
            index.add("files/lf.txt")
            index.write()
    assert ids(worktree(pool)) == true(pool)


def forged(folder: Path, path: str, flags: int = 0) -> None:
    """Make the index say that a file was staged as it looks now: as if the system's clock had not moved."""
    index, state = folder / ".git/index", os.lstat(folder / path)
    written = index.stat().st_mtime_ns
    data = bytearray(index.read_bytes())
    at = data.index(path.encode() + b"\0") - 62
    times = (*divmod(state.st_ctime_ns, 10**9), *divmod(state.st_mtime_ns, 10**9))
    data[at : at + 16] = struct.pack(">4L", *times)
    data[at + 60] |= flags
    data[-20:] = hashlib.sha1(data[:-20]).digest()
    index.write_bytes(data)
    os.utime(index, ns=(written, written))


@pytest.mark.parametrize("later", [-1, 0, 1])
def test_what_changes_without_looking_changed(pool: Path, later: int) -> None:
    """Only where the index was written a second later, or more, does a file's look tell that it is clean."""
    place, index = pool / "files/lf.txt", pool / ".git/index"
    place.write_bytes(b"b\na\n")
    forged(pool, "files/lf.txt")
    written = place.stat().st_mtime_ns + later * 10**9
    os.utime(index, ns=(written, written))
    assert (ids(worktree(pool)) == true(pool)) == (later < 1)


@pytest.mark.parametrize("flags", [0, 0x80, 0x10, 0x20, 0x30])
def test_what_git_is_told_not_to_look_at(pool: Path, flags: int) -> None:
    (pool / "files/lf.txt").write_bytes(b"b\na\n")
    forged(pool, "files/lf.txt", flags)
    assert (ids(worktree(pool)) == true(pool)) == (flags != 0)


def test_what_was_put_back_in_time(pool: Path) -> None:
    """The same size, the same time of change: the system's own time and the inode give it away."""
    place = pool / "files/lf.txt"
    before = place.stat()
    place.write_bytes(b"b\na\n")
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ids(worktree(pool)) == true(pool)


def untracked(folder: Path) -> None:
    (folder / "files/new").write_bytes(b"new\n")


def deleted(folder: Path) -> None:
    (folder / "files/lf.txt").unlink()


def unstaged(folder: Path) -> None:
    git(folder, "rm", "--quiet", "--cached", "files/lf.txt")


def intended(folder: Path) -> None:
    untracked(folder)
    git(folder, "add", "--intent-to-add", "files/new")


def assumed_unchanged(folder: Path) -> None:
    git(folder, "update-index", "--assume-unchanged", "files/lf.txt")
    (folder / "files/lf.txt").write_bytes(b"b\na\n")


def passed_over(folder: Path) -> None:
    git(folder, "update-index", "--skip-worktree", "files/lf.txt")
    (folder / "files/lf.txt").write_bytes(b"b\na\n")


def executable(folder: Path) -> None:
    (folder / "files/lf.txt").chmod(0o755)


def no_commit(folder: Path) -> None:
    git(folder, "checkout", "--quiet", "--orphan", "other")


def no_index(folder: Path) -> None:
    (folder / ".git/index").unlink()


def conflict(folder: Path) -> None:
    lines = [
        f"100644 {blob_id(FILES['files/lf.txt'].encode())} {stage}\tfiles/lf.txt\n" for stage in (1, 2, 3)
    ]
    given = "0 " + "0" * 40 + "\tfiles/lf.txt\n" + "".join(lines)
    subprocess.run(["git", "update-index", "--index-info"], cwd=folder, check=True, input=given.encode())


def line_ends(folder: Path) -> None:
    git(folder, "config", "core.autocrlf", "true")
    again(folder)


def line_ends_on_input(folder: Path) -> None:
    git(folder, "config", "core.autocrlf", "input")
    again(folder)


def attributes(words: str) -> Callable[[Path], None]:
    def given(folder: Path) -> None:
        (folder / ".gitattributes").write_text(words)
        again(folder)

    given.__name__ = words.strip()
    return given


def attributes_inside(folder: Path) -> None:
    (folder / "files/.gitattributes").write_text("* filter=swap\n")
    again(folder)


def attributes_outside(folder: Path) -> None:
    (folder / ".git/info").mkdir(exist_ok=True)
    (folder / ".git/info/attributes").write_text("* filter=swap\n")
    again(folder)


def attributes_elsewhere(folder: Path) -> None:
    git(folder, "config", "core.attributesFile", str(folder.parent / "attributes"))
    (folder.parent / "attributes").write_text("* filter=swap\n")
    again(folder)


def again(folder: Path) -> None:
    """Stage everything anew, and check it out anew."""
    git(folder, "config", "filter.swap.clean", "tr ab ba")
    git(folder, "config", "filter.swap.smudge", "tr ab ba")
    git(folder, "add", "--all", "--renormalize")
    git(folder, "commit", "--quiet", "--all", "--allow-empty", "-m", "again")
    for path in ("files/crlf.txt", "files/lf.txt", "files/id.txt"):
        (folder / path).unlink()
    git(folder, "checkout", "--quiet", "--", "files")


STATES = [
    untracked,
    deleted,
    unstaged,
    intended,
    assumed_unchanged,
    passed_over,
    executable,
    no_commit,
    no_index,
    conflict,
    line_ends,
    line_ends_on_input,
    attributes("* text=auto eol=crlf\n"),
    attributes("* text=auto\n"),
    attributes("* ident\n"),
    attributes("* filter=swap\n"),
    attributes("[attr]swapped filter=swap\n*.txt swapped\n"),
    attributes("lf.txt text working-tree-encoding=UTF-16LE\n"),
    attributes_inside,
    attributes_outside,
    attributes_elsewhere,
]


@pytest.mark.parametrize("bring", STATES, ids=lambda bring: bring.__name__)
def test_states_of_a_work_tree(pool: Path, bring: Callable[[Path], None]) -> None:
    bring(pool)
    if (pool / ".git/index").exists():
        age(pool)
    tree = worktree(pool)
    assert ids(tree) == true(pool)
    for entry in tree.entries("files"):
        assert tree.read(entry) == (pool / entry.path).read_bytes()


@pytest.mark.parametrize(
    ("bring", "file"),
    [
        (line_ends, "files/lf.txt"),
        (attributes("* ident\n"), "files/id.txt"),
        (attributes("* filter=swap\n"), "files/lf.txt"),
        (attributes_inside, "files/lf.txt"),
        (attributes_outside, "files/lf.txt"),
        (attributes_elsewhere, "files/lf.txt"),
        (attributes("lf.txt text working-tree-encoding=UTF-16LE\n"), "files/lf.txt"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_git_keeps_another_form_of_what_looks_clean(
    pool: Path, bring: Callable[[Path], None], file: str
) -> None:
    """The states above are those they say: the id in the index would be wrong."""
    bring(pool)
    age(pool)
    index = read_index(pool / ".git/index")
    assert index.files[file].looks_like(os.lstat(pool / file), index.written)
    assert index.files[file].id.hex() != true(pool)[file]


def test_a_setting_that_is_gone_again(pool: Path) -> None:
    """git thinks such files clean until they are touched; then reading gives git's form, and its id."""
    line_ends(pool)
    git(pool, "config", "--unset", "core.autocrlf")
    age(pool)
    tree = worktree(pool)
    entry = tree.entry("files/lf.txt")
    assert entry is not None
    assert (entry.id, tree.read(entry)) == (blob_id(b"a\nb\n"), b"a\nb\n")


def test_without_git(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert ids(worktree(tmp_path)) == ids(DictTree(FILES))


def test_a_further_work_tree(pool: Path, tmp_path: Path) -> None:
    git(pool, "worktree", "add", "--quiet", "../second")
    (tmp_path / "second/files/lf.txt").write_text("changed\n")
    assert ids(worktree(tmp_path / "second")) == true(tmp_path / "second")
    assert ids(worktree(pool)) == true(pool)


def test_a_repository_below_the_top_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, {f"infra/pool/{path}": text for path, text in FILES.items()})
    commit(tmp_path)
    monkeypatch.setattr(disk, "_read_blocks", lambda place: pytest.fail("It was read"))
    repository = Repository.open(tmp_path / "infra/pool")
    assert ids(repository.worktree()) == ids(repository.index()) == ids(DictTree(FILES))


def test_another_index_than_the_repositorys_own(pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As while `git commit --all` runs its hooks."""
    (pool / "files/lf.txt").write_text("changed\n")
    other = str(pool / ".git/next-index.lock")
    subprocess.run(["git", "add", "--all"], cwd=pool, check=True, env={**os.environ, "GIT_INDEX_FILE": other})
    monkeypatch.setenv("GIT_INDEX_FILE", other)
    repository = Repository.open(pool)
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert ids(repository.worktree()) == ids(repository.index(other)) == true(pool)
    assert ids(repository.index()) == ids(repository.at("HEAD")) != true(pool)


def test_what_is_only_meant_to_be_added_is_not_staged(pool: Path) -> None:
    intended(pool)
    repository = Repository.open(pool)
    assert ids(repository.index()) == ids(repository.at("HEAD"))


def test_links_and_submodules(pool: Path) -> None:
    other = pool / "files/other"
    other.mkdir()
    git(other, "init", "--quiet")
    git(other, "commit", "--quiet", "--allow-empty", "-m", "x")
    first = git(other, "rev-parse", "HEAD")
    (pool / "files/link").symlink_to("lf.txt")
    git(pool, "add", "files/link")
    git(pool, "update-index", "--add", "--cacheinfo", f"160000,{first},files/other")
    git(pool, "commit", "--quiet", "-m", "two")
    repository = Repository.open(pool)
    files: dict[str, Content] = {**FILES, "files/link": Symlink("lf.txt"), "files/other": SUBMODULE}
    expected = {**ids(DictTree(files)), "files/other": first}
    trees = [repository.at("HEAD"), repository.index(), repository.worktree()]
    assert [ids(tree) for tree in trees] == [expected] * 3
    assert len({fingerprint(tree, ("files",)) for tree in trees}) == 1
    assert all(tree.entry("files/other") in list(tree.entries("files")) for tree in trees)
    git(other, "commit", "--quiet", "--allow-empty", "-m", "y")
    (pool / "files/link").unlink()
    (pool / "files/link").symlink_to("crlf.txt")
    now = ids(repository.worktree())
    assert now["files/other"] == git(other, "rev-parse", "HEAD") != first
    assert now["files/link"] == blob_id(b"crlf.txt")
    subprocess.run(["rm", "-r", str(other / ".git")], check=True)
    assert ids(repository.worktree())["files/other"] == first
    assert trees[2].entry("files/other/x") is None


@pytest.mark.parametrize("place", ["link", "module"])
def test_what_stands_in_a_folders_place_is_told_by_every_tree(tmp_path: Path, place: str) -> None:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, {"gitcfg.yaml": "format: 1\n", "elsewhere/a": "a\n"})
    (tmp_path / "link").symlink_to("elsewhere")
    commit(tmp_path)
    git(tmp_path, "init", "--quiet", "module")
    git(tmp_path / "module", "commit", "--quiet", "--allow-empty", "-m", "x")
    git(tmp_path, "-c", "advice.addEmbeddedRepo=false", "add", "module")
    git(tmp_path, "commit", "--quiet", "-m", "two")
    repository = Repository.open(tmp_path)
    trees = (repository.at("HEAD"), repository.index(), repository.worktree())
    found = [[(entry.path, entry.kind, entry.id) for entry in tree.entries(place)] for tree in trees]
    kind = EntryKind.LINK if place == "link" else EntryKind.SUBMODULE
    assert found[0] == found[1] == found[2]
    assert [(path, what) for path, what, _ in found[0]] == [(place, kind)]
    content = Symlink("elsewhere") if place == "link" else SUBMODULE
    assert [entry.kind for entry in DictTree({place: content}).entries(place)] == [kind]


def test_a_clean_file_is_read_as_it_was_when_its_id_was_asked_for(pool: Path) -> None:
    tree = worktree(pool)
    before = ids(tree)
    (pool / "files/lf.txt").write_text("changed\n")
    assert {entry.path: blob_id(tree.read(entry)) for entry in tree.entries("files")} == before


def test_a_file_that_changes_after_its_id_was_asked_for_is_not_read(pool: Path) -> None:
    (pool / "files/lf.txt").write_text("one\n")
    tree = worktree(pool)
    entry = tree.entry("files/lf.txt")
    assert entry is not None
    assert entry.id == blob_id(b"one\n")
    (pool / "files/lf.txt").write_text("two\n")
    with pytest.raises(GitcfgError, match="changed while"):
        tree.read(entry)
    assert worktree(pool).read(entry) == b"two\n"


def test_a_file_that_is_read_first_has_the_id_of_what_was_read(pool: Path) -> None:
    (pool / "files/lf.txt").write_text("one\n")
    tree = worktree(pool)
    entry = tree.entry("files/lf.txt")
    assert entry is not None
    assert tree.read(entry) == b"one\n"
    (pool / "files/lf.txt").write_text("two\n")
    assert entry.id == blob_id(b"one\n")


def test_a_file_that_goes_has_no_id(pool: Path) -> None:
    untracked(pool)
    tree = worktree(pool)
    entry = tree.entry("files/new")
    assert entry is not None
    (pool / "files/new").unlink()
    assert entry.id == NO_ID
    untracked(pool)
    with pytest.raises(GitcfgError, match="changed while"):
        tree.read(entry)


def test_a_clean_file_whose_blob_is_lost(pool: Path) -> None:
    lost = blob_id(FILES["files/lf.txt"].encode())
    (pool / f".git/objects/{lost[:2]}/{lost[2:]}").unlink()
    repository = Repository.open(pool)
    tree = repository.worktree()
    assert ids(tree) == true(pool)
    assert {entry.path: blob_id(tree.read(entry)) for entry in tree.entries("files")} == true(pool)
    entry = repository.at("HEAD").entry("files/lf.txt")
    assert entry is not None
    for look in (lambda: entry.size, lambda: repository.at("HEAD").read(entry)):
        with pytest.raises(GitcfgError, match=lost):
            look()


def test_an_ignored_file_is_not_there(pool: Path) -> None:
    write(pool, {".gitignore": "*.bak\n", "files/x.bak": "x\n"})
    with open(bytes(pool) + b"/files/\xff.bak", "wb") as file:
        file.write(b"x\n")
    tree = worktree(pool)
    assert tree.entry("files/x.bak") is None
    assert set(ids(tree)) == set(FILES) - {"gitcfg.yaml"}
