"""Commits, their order and authors, and what differs between trees."""

import subprocess
from pathlib import Path
from random import Random

import pytest

from gitcfg.git.commit_tree import FileChange
from gitcfg.git.history import History
from gitcfg.git.repository import Repository

Modes = dict[str, tuple[str, str]]
"""Path to mode and content."""


def git(folder: Path, *words: str, text: str | None = None, when: str = "1700000000 +0130") -> str:
    who = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "Bob"}
    dates = {
        "GIT_COMMITTER_EMAIL": "bob@example.org",
        "GIT_AUTHOR_DATE": f"@{when}",
        "GIT_COMMITTER_DATE": f"@{when}",
    }
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        input=text,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(folder), **who, **dates},
    )
    return done.stdout.strip()


def imported(folder: Path, versions: list[Modes]) -> list[str]:
    """A line of commits, each with these files and nothing else."""
    lines = []
    for number, files in enumerate(versions, 1):
        lines.append(
            f"commit refs/heads/main\nmark :{number}\ncommitter n <e> {number} +0000\ndata 1\nx\ndeleteall\n"
        )
        for path, (mode, content) in files.items():
            inline = f"inline {path}\ndata {len(content.encode())}\n{content}\n"
            lines.append(f"M {mode} {inline}" if mode != "160000" else f"M 160000 {content} {path}\n")
    git(folder, "init", "--quiet", "--bare")
    git(folder, "fast-import", "--quiet", text="".join(lines))
    return git(folder, "rev-list", "--reverse", "main").split()


def test_differences_are_those_of_all_files(tmp_path: Path) -> None:
    rng = Random(1)
    names = [
        f"{folder}{name}" for folder in ("", "a/", "a/b/", "c d/") for name in ("x", "x y", "y.yaml", "é")
    ]
    names += [f"many/{number}" for number in range(400)]
    versions: list[Modes] = [{}]
    for _ in range(120):
        files = dict(versions[-1])
        for _ in range(rng.choice((1, 1, 2, 200))):
            path = rng.choice(names)
            files.pop(path, None)
            if rng.random() < 0.7:
                mode = rng.choice(("100644", "100644", "100755", "120000", "160000"))
                files[path] = (mode, "1" * 40 if mode == "160000" else rng.choice("abc"))
        versions.append(files)
    versions.append({"a": ("100644", "a file where a folder was")})
    versions.append({"a/b": ("120000", "a link"), "many/1": ("100644", "a")})
    versions.append({"a/b": ("100644", "a file where a link was")})
    ids = imported(tmp_path, versions)
    history = History(Repository.open(tmp_path))
    pairs = [(number, number + 1) for number in range(len(ids) - 1)]
    pairs += [(rng.randrange(len(ids)), rng.randrange(len(ids))) for _ in range(100)]
    for old, new in pairs:
        changes = history.trees.changed(history.root(ids[old]), history.root(ids[new]))
        found = {change.path: (change.old, change.new) for change in changes}
        ours, theirs = (listed(history, ids[number]) for number in (old, new))
        paths = {path for path, _ in ours.items() ^ theirs.items()}
        assert found == {path: (ours.get(path), theirs.get(path)) for path in paths}


def listed(history: History, commit: str) -> dict[str, bytes]:
    """Every file of a commit, as git lists them; links and submodules are none."""
    found = {}
    for line in git(Path(history.git.path), "ls-tree", "-r", "-z", commit).split("\0"):
        head, _, path = line.partition("\t")
        if head[:3] == "100":
            found[path] = bytes.fromhex(head.split()[2])
    return found


def test_a_tree_and_none(tmp_path: Path) -> None:
    (commit,) = imported(tmp_path, [{"a/x": ("100644", "1")}])
    history = History(Repository.open(tmp_path))
    root = history.root(commit)
    (there,), (gone,) = history.trees.changed(None, root), history.trees.changed(root, None)
    assert (there.path, there.old, history.read(there.new or b"")) == ("a/x", None, b"1")
    assert gone == FileChange("a/x", there.new, None)
    assert list(history.trees.changed(None, None)) == []


def test_a_name_that_ends_as_another_item(tmp_path: Path) -> None:
    """Then two trees end with the same bytes, but not with the same items."""
    same = ("100644", "1")
    ids = imported(tmp_path, [{"b": same}, {"x100644 b": same}, {"a": same, "b": same}])
    history = History(Repository.open(tmp_path))
    one, two, three = (history.root(each) or b"" for each in ids)
    blob = history.trees.items(one)["b"].id
    assert set(history.trees.changed(one, two)) == {
        FileChange("b", blob, None),
        FileChange("x100644 b", None, blob),
    }
    assert {change.path for change in history.trees.changed(two, three)} == {"x100644 b", "a", "b"}


def test_children_come_before_parents_and_later_commits_first(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    tree = git(tmp_path, "write-tree")
    one = git(tmp_path, "commit-tree", tree, "-m", "one", when="1000 +0000")
    late = git(tmp_path, "commit-tree", tree, "-p", one, "-m", "late", when="3000 +0000")
    early = git(tmp_path, "commit-tree", tree, "-p", one, "-m", "early", when="2000 +0000")
    merge = git(tmp_path, "commit-tree", tree, "-p", early, "-p", late, "-m", "m", when="1500 +0000")
    (tmp_path / "gitcfg.yaml").touch()
    history = History(Repository.open(tmp_path))
    assert list(history.walk(merge)) == [merge, late, early, one]
    assert list(history.walk(merge, known=late)) == [merge, early]
    assert history.parents(merge) == (early, late)
    assert history.parents(one) == ()
    assert history.includes(merge, early)
    assert history.includes(late, late)
    assert not history.includes(early, late)
    assert history.has(one)
    assert not history.has("1" * 40)


def test_what_is_told_of_a_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare")
    tree = git(tmp_path, "mktree", text="")
    message = "\n\n  One\nsubject \n\nand a body\n"
    told = History(Repository.open(tmp_path)).about(
        git(tmp_path, "commit-tree", tree, text=message, when="1700000000 -0230")
    )
    assert (told.author, told.email, told.subject) == ("Ann", "ann@example.org", "One subject")
    assert told.date == "2023-11-14T19:43:20-02:30"


@pytest.mark.parametrize(
    ("author", "date"),
    [
        (b"A <a> 99999999999999 +0000", "1970-01-01T00:00:00+00:00"),
        (b"A <a> 0 +9999", "1970-01-01T00:00:00+00:00"),
        (b"A <a> 0 +0000", "1970-01-01T00:00:00+00:00"),
    ],
)
def test_dates_that_no_calendar_holds(tmp_path: Path, author: bytes, date: str) -> None:
    git(tmp_path, "init", "--quiet", "--bare")
    history = History(Repository.open(tmp_path))
    tree = git(tmp_path, "mktree", text="").encode()
    raw = b"tree %s\nauthor %s\ncommitter B <b> 0 +0000\nencoding latin-1\n\nGr\xfc\xdfe\n" % (tree, author)
    told = history.about(str(history.git.odb.write(1, raw)))
    assert (told.date, told.subject) == (date, "Grüße")


def test_an_encoding_that_nobody_knows(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare")
    history = History(Repository.open(tmp_path))
    tree = git(tmp_path, "mktree", text="").encode()
    raw = b"tree %s\nauthor A <a> 0 +0000\ncommitter B <b> 0 +0000\nencoding klingon\n\n\xff\n" % tree
    assert history.about(str(history.git.odb.write(1, raw))).subject == "\ufffd"


def test_the_repository_below_gits_root(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    pool = tmp_path / "sites" / "pool"
    pool.mkdir(parents=True)
    before = commit(tmp_path, "elsewhere", "x")
    after = commit(pool, "gitcfg.yaml", "format: 1\n")
    history = History(Repository.open(pool))
    assert history.root(before) is None
    assert [change.path for change in history.trees.changed(None, history.root(after))] == ["gitcfg.yaml"]


def commit(folder: Path, path: str, text: str) -> str:
    (folder / path).write_text(text)
    git(folder, "add", path)
    git(folder, "commit", "--quiet", "-m", path)
    return git(folder, "rev-parse", "HEAD")


def test_a_clone_that_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    git(tmp_path / "whole", "init", "--quiet")
    ids = [commit(tmp_path / "whole", "gitcfg.yaml", f"# {number}") for number in range(3)]
    git(tmp_path, "clone", "--quiet", "--depth", "2", f"file://{tmp_path / 'whole'}", "part")
    whole, part = (History(Repository.open(tmp_path / name)) for name in ("whole", "part"))
    assert (whole.shallow, part.shallow) == (False, True)
    assert list(part.walk(ids[-1])) == [ids[2], ids[1]]
    assert part.parents(ids[1]) == ()


def test_work_trees_share_a_folder(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "one")
    commit(tmp_path / "one", "gitcfg.yaml", "format: 1\n")
    git(tmp_path / "one", "worktree", "add", "--quiet", "../two")
    one, two = (Repository.open(tmp_path / name) for name in ("one", "two"))
    assert one.shared == two.shared == tmp_path / "one" / ".git"
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "gitcfg.yaml").touch()
    assert Repository.open(bare).shared is None
