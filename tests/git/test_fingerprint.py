"""Two fingerprints are the same exactly if paths, kinds and ids are."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.git.repository import Repository
from gitcfg.git.tree import SUBMODULE, DictTree, Symlink, Tree, fingerprint, fingerprint_of
from tests.git.test_trees import git, write

PLACES = ("a", "b", "f")

names = st.text("ab0\n -é", min_size=1, max_size=3)
paths = st.one_of(st.just("f"), st.builds("{}/{}".format, st.sampled_from("abc"), names))
contents = st.one_of(
    st.text("xy", max_size=2), st.builds(Symlink, st.text("xy", max_size=2)), st.just(SUBMODULE)
)
trees = st.dictionaries(paths, contents, max_size=4)


def seen(tree: Tree) -> dict[str, tuple[str, str]]:
    found = {entry.path: entry for place in PLACES for entry in tree.entries(place)}
    found |= {entry.path: entry for entry in map(tree.entry, PLACES) if entry}
    return {path: (entry.kind.value, entry.id) for path, entry in found.items()}


@given(trees, trees)
def test_the_same_exactly_if_all_is(one: dict[str, str], two: dict[str, str]) -> None:
    left, right = DictTree(one), DictTree(two)
    assert (fingerprint(left, PLACES) == fingerprint(right, PLACES)) == (seen(left) == seen(right))


@given(trees, st.randoms())
def test_order_and_repetition_do_not_count(files: dict[str, str], random: object) -> None:
    tree = DictTree(files)
    backwards = DictTree(dict(reversed(files.items())))
    assert fingerprint(tree, PLACES) == fingerprint(backwards, (*reversed(PLACES), *PLACES))
    entries = [entry for place in PLACES for entry in tree.entries(place)]
    assert fingerprint_of(entries) == fingerprint_of(entries[::-1] + entries)


def test_one_number_for_all_kinds_of_trees(tmp_path: Path) -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "a/b c": "1\n",
        "a/b/c": "2\n",
        "a/é\n": "",
        "f": "3\n",
        "c": "4\n",
    }
    git(tmp_path, "init", "--quiet")
    write(tmp_path, files)
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    repository = Repository.open(tmp_path)
    alike = (repository.at("HEAD"), repository.index(), repository.worktree(), DictTree(files))
    assert len({fingerprint(tree, PLACES) for tree in alike}) == 1
    (tmp_path / "c").write_text("elsewhere\n")
    assert fingerprint(repository.worktree(), PLACES) == fingerprint(alike[0], PLACES)
    (tmp_path / "a/b/c").write_text("3\n")
    assert fingerprint(repository.worktree(), PLACES) != fingerprint(alike[0], PLACES)
