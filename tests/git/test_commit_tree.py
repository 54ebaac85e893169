"""A commit's tree is read as git wrote it, and what git would not have written is refused."""

import subprocess

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.git.commit_tree import MOST_FOLDERS, CommitTree
from gitcfg.git.tree import DictTree, EntryKind
from gitcfg.model import GitcfgError

names = st.text("ab-.0é", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> pygit2.Repository:
    return pygit2.init_repository(str(tmp_path_factory.mktemp("bare")), bare=True)


def raw_tree(git: pygit2.Repository, data: bytes) -> str:
    """A tree object of these very bytes; git's library would judge them."""
    words = ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    done = subprocess.run(words, cwd=git.path, input=data, capture_output=True, check=True)
    return done.stdout.decode().strip()


def item(mode: bytes, name: bytes, id: str) -> bytes:
    return mode + b" " + name + b"\0" + bytes.fromhex(id)


def commit_tree(git: pygit2.Repository, tree: str) -> CommitTree:
    who = pygit2.Signature("n", "e@example.org", 1, 0)
    id = git.create_commit(None, who, who, "m", pygit2.Oid(hex=tree), [])
    return CommitTree(git, git[id].peel(pygit2.Commit), "")


@given(st.dictionaries(paths, st.text("xy", max_size=3), max_size=8))
def test_it_is_what_was_committed(bare: pygit2.Repository, files: dict[str, str]) -> None:
    above = {"/".join(path.split("/")[:deep]) for path in files for deep in range(1, path.count("/") + 1)}
    files = {f"t/{path}": text for path, text in files.items() if path not in above}
    index = pygit2.Index()
    for path, text in files.items():
        index.add(pygit2.IndexEntry(path, bare.create_blob(text.encode()), pygit2.enums.FileMode.BLOB))
    tree, expected = commit_tree(bare, str(index.write_tree(bare))), DictTree(files)
    found = list(tree.entries("t"))
    assert [(each.path, each.id, each.size) for each in found] == [
        (each.path, each.id, each.size) for each in expected.entries("t")
    ]
    for entry in found:
        assert tree.entry(entry.path) == entry
        folder = entry.path.rpartition("/")[0]
        assert [each.path for each in tree.entries(folder)] == [
            each.path for each in expected.entries(folder)
        ]
        assert folder == "t" or tree.entry(folder) is None
        assert tree.entry(entry.path + "x") == expected.entry(entry.path + "x")


def test_odd_modes_are_files(bare: pygit2.Repository) -> None:
    blob = str(bare.create_blob(b"x"))
    inner = raw_tree(bare, item(b"100664", b"a", blob) + item(b"100755", b"b", blob))
    tree = commit_tree(bare, raw_tree(bare, item(b"040000", b"t", inner)))
    assert [(each.path, each.kind) for each in tree.entries("t")] == [
        ("t/a", EntryKind.FILE),
        ("t/b", EntryKind.FILE),
    ]


def test_names_that_are_no_text_are_in_order_of_their_escapes(bare: pygit2.Repository) -> None:
    blob = str(bare.create_blob(b"x"))
    inner = raw_tree(bare, item(b"100644", b"a", blob) + item(b"100644", b"\xff", blob))
    tree = commit_tree(bare, raw_tree(bare, item(b"40000", b"t", inner)))
    assert [each.path for each in tree.entries("t")] == ["t/\\xff", "t/a"]
    assert tree.entry("t/\\xff") is not None


@pytest.mark.parametrize("spoilt", [b"", b"100644 b", b"100644 b\0short", b"nothing"])
def test_a_broken_tree_is_refused(bare: pygit2.Repository, spoilt: bytes) -> None:
    blob = str(bare.create_blob(b"x"))
    inner = raw_tree(bare, item(b"100644", b"a", blob) + spoilt)
    tree = commit_tree(bare, raw_tree(bare, item(b"40000", b"t", inner)))
    if not spoilt:
        assert [each.path for each in tree.entries("t")] == ["t/a"]
        return
    for look in (lambda: list(tree.entries("t")), lambda: tree.entry("t/a")):
        with pytest.raises(GitcfgError, match=f"{inner} is broken"):
            look()


def test_folders_that_lie_too_deep(bare: pygit2.Repository) -> None:
    tree = raw_tree(bare, item(b"100644", b"a", str(bare.create_blob(b"x"))))
    for _ in range(MOST_FOLDERS):
        tree = raw_tree(bare, item(b"40000", b"d", tree))
    assert len(list(commit_tree(bare, raw_tree(bare, item(b"40000", b"t", tree))).entries("t"))) == 1
    deeper = raw_tree(bare, item(b"40000", b"t", raw_tree(bare, item(b"40000", b"d", tree))))
    with pytest.raises(GitcfgError, match="too deep"):
        list(commit_tree(bare, deeper).entries("t"))


def test_a_large_file_is_listed_without_being_read(
    bare: pygit2.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = str(bare.create_blob(bytes(3 << 20)))
    inner = raw_tree(bare, item(b"100644", b"a", large))
    tree = commit_tree(bare, raw_tree(bare, item(b"40000", b"t", inner)))
    monkeypatch.setattr("gitcfg.git.objects.Objects.content", lambda *_: pytest.fail("It was read"))
    (entry,) = tree.entries("t")
    assert (entry.id, entry.size) == (large, 3 << 20)
