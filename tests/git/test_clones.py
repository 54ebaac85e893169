"""Clones that lack something: a sparse checkout, a shallow and a partial clone, by git itself."""

import subprocess
from pathlib import Path

import msgspec
import pytest

from gitcfg.cli.main import run

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  PORT: {description: Where., type: integer}\n",
    "features/Web.yaml": (
        "description: Serves.\nparams: {PORT: 1}\nfiles: {/etc/w: {format: env, params: [PORT]}}\n"
    ),
    "groups/web.yaml": "description: All.\nfeatures: [Web]\n",
    "nodesets/w.yaml": "nodes: w[1-3]\ngroups: [web]\n",
}


def git(folder: Path, *words: str) -> str:
    call = ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@x", *words]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """Three commits: the second one changes PORT, the third a remark."""
    root = tmp_path / "origin"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "config", "uploadpack.allowFilter", "true")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    _commit(root, "First")
    web = root / "features/Web.yaml"
    web.write_text(web.read_text().replace("PORT: 1", "PORT: 2"))
    _commit(root, "Another port")
    web.write_text(f"{web.read_text()}# A remark.\n")
    _commit(root, "A remark")
    return root


def _commit(root: Path, subject: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", subject)


def clone(origin: Path, *words: str) -> Path:
    git(origin.parent, "clone", "-q", *words, origin.as_uri(), "clone")
    return origin.parent / "clone"


def said(capfd: pytest.CaptureFixture[str], root: Path, *words: str) -> str:
    assert run(["-C", str(root), *words]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("words", [("--cone",), ("--cone", "--sparse-index")])
def test_what_a_sparse_checkout_leaves_out_comes_from_the_index(
    origin: Path, words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    root = clone(origin)
    git(root, "sparse-checkout", "set", *words, "groups")
    assert sorted(each.name for each in root.iterdir()) == [".git", "gitcfg.yaml", "groups"]
    for where in ([], ["--staged"], ["--at", "HEAD"]):
        assert msgspec.json.decode(said(capfd, root, "check", *where, "-o", "json"))["findings"] == []
    assert "PORT=2\n" in said(capfd, root, "render", "w1")
    assert said(capfd, root, "diff", "HEAD") == ""
    (root / "features").mkdir()
    (root / "features/Web.yaml").write_text(FILES["features/Web.yaml"].replace("PORT: 1", "PORT: 3"))
    assert "PORT=3\n" in said(capfd, root, "render", "w1")  # what is there counts


def test_a_shallow_clone_says_where_its_history_ends(origin: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = clone(origin, "--depth", "1")
    tip = git(root, "rev-parse", "HEAD").strip()
    log = said(capfd, root, "log", "w1")
    assert log.startswith(f"{tip[:10]} or earlier: this clone's history ends here\n")
    assert "Ada" not in log
    (entry,) = msgspec.json.decode(said(capfd, root, "log", "w1", "-o", "json"))["commits"]
    assert entry["shallow"] is True
    blamed = said(capfd, root, "explain", "w1", "PORT", "--blame")
    assert f"by {tip[:10]} or earlier  unknown: this clone's history ends here" in blamed
    assert "Ada" not in blamed
    git(root, "fetch", "-q", "--unshallow")
    assert "Ada: Another port" in said(capfd, root, "log", "w1")
    assert "Another port" in said(capfd, root, "explain", "w1", "PORT", "--blame")


@pytest.mark.parametrize("kind", ["blob:none", "tree:0"])
def test_a_partial_clone_fetches_what_it_lacks(
    origin: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    root = clone(origin, f"--filter={kind}")
    assert "Ada: Another port" in said(capfd, root, "log", "w1")
    assert "PORT=1\n" in said(capfd, root, "render", "w1", "--at", "HEAD~2")
    assert "PORT" in said(capfd, root, "diff", "HEAD~2", "HEAD")


def test_a_partial_clone_without_its_origin_says_so(origin: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = clone(origin, "--filter=blob:none")
    origin.rename(origin.parent / "gone")
    for words in (["log", "w1"], ["check", "--at", "HEAD~2"], ["diff", "HEAD~2", "HEAD"]):
        assert run(["-C", str(root), *words]) == 2
        told = capfd.readouterr().err
        assert "Cannot fetch the missing objects of this partial clone from origin: " in told
        assert "hint: Try again when the remote is reachable, or clone without `--filter`." in told


def test_what_a_merge_needs_is_fetched(origin: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """git's library merges two versions of a file only if they are there."""
    git(origin, "checkout", "-qb", "topic", "HEAD~")
    params = origin / "parameters/p.yaml"
    (origin / "features/Web.yaml").write_text(f"# Above.\n{(origin / 'features/Web.yaml').read_text()}")
    params.write_text(params.read_text() + "  DEPTH: {description: How deep., type: integer, default: 1}\n")
    _commit(origin, "On top")
    git(origin, "checkout", "-q", "-")
    root = clone(origin, "--filter=blob:none")
    assert "No node changes" in said_whole(capfd, root, "diff", "--merge", "origin/topic")
    assert "No node changes" in said_whole(capfd, root, "undo", "HEAD", "--dry-run")


def said_whole(capfd: pytest.CaptureFixture[str], root: Path, *words: str) -> str:
    """What a command says, on both streams."""
    assert run(["-C", str(root), *words]) == 0
    return "".join(capfd.readouterr())
