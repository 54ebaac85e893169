"""Trees of a commit, the index, the work tree and a dictionary say the same of the same files."""

import subprocess
from pathlib import Path

import pytest

from gitcfg.git.repository import Repository
from gitcfg.git.tree import SUBMODULE, DictTree, EntryKind, Symlink, Tree
from gitcfg.model import GitcfgError

FILES = {"gitcfg.yaml": "format: 1\n", "groups/a.yaml": "{}\n", "groups/deep/er/b.yaml": "params: {}\n"}


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "pool"
    folder.mkdir()
    git(folder, "init", "--quiet")
    write(folder, FILES)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "one")
    return folder


def content(tree: Tree, folder: str = "groups") -> dict[str, bytes]:
    return {entry.path: tree.read(entry) for entry in tree.entries(folder)}


def test_all_trees_agree(pool: Path) -> None:
    repository = Repository.open(pool)
    trees = [repository.at("HEAD"), repository.index(), repository.worktree(), DictTree(FILES)]
    for tree in trees:
        assert content(tree) == {"groups/a.yaml": b"{}\n", "groups/deep/er/b.yaml": b"params: {}\n"}
        assert [entry.size for entry in tree.entries("groups")] == [3, 11]
        assert tree.entry("gitcfg.yaml") is not None
        assert tree.entry("groups") is None
        assert tree.entry("groups/none.yaml") is None
        assert list(tree.entries("nothing")) == []
    assert trees[0].commit == git(pool, "rev-parse", "HEAD")
    assert trees[1].commit is trees[2].commit is None


def test_untracked_files_count_in_the_work_tree_and_ignored_ones_do_not(pool: Path) -> None:
    write(pool, {".gitignore": "*.bak.yaml\ngroups/tmp/\n", "groups/new.yaml": "{}\n"})
    write(pool, {"groups/x.bak.yaml": "{}\n", "groups/tmp/y.yaml": "{}\n"})
    repository = Repository.open(pool)
    assert sorted(content(repository.worktree())) == [
        "groups/a.yaml",
        "groups/deep/er/b.yaml",
        "groups/new.yaml",
    ]
    assert "groups/new.yaml" not in content(repository.index())
    git(pool, "add", "groups/new.yaml")
    assert "groups/new.yaml" in content(repository.index())
    assert "groups/new.yaml" not in content(repository.at("HEAD"))


def test_an_ignored_file_that_is_tracked_counts(pool: Path) -> None:
    write(pool, {".gitignore": "groups/a.yaml\n"})
    assert "groups/a.yaml" in content(Repository.open(pool).worktree())


def test_links_and_submodules_are_told_and_never_followed(pool: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("secret: 1\n")
    (pool / "groups/link.yaml").symlink_to(tmp_path / "secret.yaml")
    (pool / "groups/up").symlink_to(tmp_path)
    git(pool, "add", "--all")
    git(pool, "update-index", "--add", "--cacheinfo", "160000", "1" * 40, "groups/module")
    git(pool, "commit", "--quiet", "-m", "two")
    repository = Repository.open(pool)
    for tree in (repository.at("HEAD"), repository.index()):
        kinds = {entry.path: entry.kind for entry in tree.entries("groups")}
        assert kinds["groups/link.yaml"] is kinds["groups/up"] is EntryKind.LINK
        assert kinds["groups/module"] is EntryKind.SUBMODULE
    kinds = {entry.path: entry.kind for entry in repository.worktree().entries("groups")}
    assert kinds["groups/link.yaml"] is kinds["groups/up"] is EntryKind.LINK
    for tree in (repository.at("HEAD"), repository.index(), repository.worktree()):
        assert b"secret" not in b"".join(content(tree).values())
        assert tree.entry("groups/up/secret.yaml") is None


def test_a_folder_that_is_a_link_is_told(pool: Path, tmp_path: Path) -> None:
    (pool / "nodes").symlink_to(tmp_path)
    entries = list(Repository.open(pool).worktree().entries("nodes"))
    assert [(entry.path, entry.kind) for entry in entries] == [("nodes", EntryKind.LINK)]


def test_names_that_are_no_text_are_escaped(pool: Path) -> None:
    with open(bytes(pool) + b"/groups/\xff.yaml", "wb") as file:
        file.write(b"{}\n")
    git(pool, "add", "--all")
    git(pool, "commit", "--quiet", "-m", "bytes")
    repository = Repository.open(pool)
    for tree in (repository.at("HEAD"), repository.worktree()):
        assert "groups/\\xff.yaml" in content(tree)


def test_a_bare_repository_is_read_at_its_head(pool: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", "pool", "bare.git")
    assert content(Repository.open(tmp_path / "bare.git").worktree()) == content(
        Repository.open(pool).at("HEAD")
    )


def test_a_repository_below_the_top_of_git(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, {f"infra/pool/{path}": text for path, text in FILES.items()})
    write(tmp_path, {"groups/outside.yaml": "{}\n"})
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    repository = Repository.open(tmp_path / "infra/pool/groups/deep")
    for tree in (repository.at("HEAD"), repository.index(), repository.worktree()):
        assert sorted(content(tree)) == ["groups/a.yaml", "groups/deep/er/b.yaml"]


def test_a_folder_without_git_has_files_but_no_commits(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    repository = Repository.open(tmp_path)
    assert len(content(repository.worktree())) == 2
    with pytest.raises(GitcfgError, match="not a git repository"):
        repository.at("HEAD")
    assert repository.before(repository.worktree()) is None


def test_what_a_tree_comes_after(pool: Path) -> None:
    repository = Repository.open(pool)
    first = git(pool, "rev-parse", "HEAD")
    assert repository.before(repository.at("HEAD")) is None
    write(pool, {"groups/c.yaml": "{}\n"})
    git(pool, "add", "--all")
    git(pool, "commit", "--quiet", "-m", "two")
    before = repository.before(repository.at("HEAD"))
    assert before is not None
    assert before.commit == first
    now = repository.before(repository.worktree())
    assert now is not None
    assert now.commit == git(pool, "rev-parse", "HEAD")


@pytest.mark.parametrize("revision", ["nothing", "HEAD~7", "main@{nonsense}", "", "\0"])
def test_a_revision_that_is_not_there(pool: Path, revision: str) -> None:
    with pytest.raises(GitcfgError, match="There is no revision"):
        Repository.open(pool).at(revision)


def test_no_repository_at_all(tmp_path: Path) -> None:
    with pytest.raises(GitcfgError, match=r"no gitcfg\.yaml"):
        Repository.open(tmp_path)
    with pytest.raises(GitcfgError, match=r"The folder .* does not exist"):
        Repository.open(tmp_path / "none")


def test_a_repository_with_sha256_ids_is_refused_with_a_reason(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    write(tmp_path, FILES)
    with pytest.raises(GitcfgError) as refused:
        Repository.open(tmp_path)
    assert "SHA-1" in " ".join(refused.value.hints)


def test_a_dictionary_knows_links_and_submodules() -> None:
    tree = DictTree({"groups/l.yaml": Symlink("/etc/passwd"), "groups/m": SUBMODULE})
    assert [entry.kind for entry in tree.entries("groups")] == [EntryKind.LINK, EntryKind.SUBMODULE]
    assert content(tree) == {"groups/l.yaml": b"", "groups/m": b""}
