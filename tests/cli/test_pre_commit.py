"""`.pre-commit-hooks.yaml` with the program pre-commit itself: a mistake is not committed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_init import WHO

ROOT = Path(__file__).parents[2]
MISTAKE, RIGHT = "groups: [nowhere]\n", "groups: []\n"

pytestmark = pytest.mark.slow


class Pool:
    """A repository whose pre-commit takes its hook from a clone of this one."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / "pool"
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "GITCFG_", "PRE_"))
        }
        self.environment = kept | WHO | {"PRE_COMMIT_HOME": str(home / "kept"), "COLUMNS": "80"}

    def call(self, *words: str) -> tuple[int, str]:
        """What a command's code is, and what it says."""
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def write(self, text: str) -> None:
        (self.folder / "nodes").mkdir(exist_ok=True)
        (self.folder / "nodes/a.yaml").write_text(text)

    def commit(self, *words: str) -> tuple[int, str]:
        before = self.call("git", "rev-parse", "HEAD")
        code, said = self.call("git", "commit", "--message", "a change", *words)
        assert (self.call("git", "rev-parse", "HEAD") == before) is (code != 0), said
        return code, said


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pre-commit in an environment of its own; what it needs comes from the package index."""
    place = tmp_path_factory.mktemp("pre-commit")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin/pip"), "install", "--quiet", "--retries", "0", "pre-commit"]
    if subprocess.run(pip, capture_output=True, check=False).returncode:
        pytest.skip("pre-commit cannot be fetched here")
    return place / "bin/pre-commit"


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory, program: Path) -> Pool:
    made = Pool(tmp_path_factory.mktemp("pool"))
    made.folder.mkdir()
    if made.call("git", "clone", "--quiet", str(ROOT), "../tool")[0]:
        pytest.skip("this is no clone")
    made.folder = made.home / "tool"
    revision = made.call("git", "rev-parse", "HEAD")[1].strip()
    made.folder = made.home / "pool"
    made.call("git", "init", "--quiet")
    (made.folder / "gitcfg.yaml").write_text("format: 1\n")
    (made.folder / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {made.home}/tool\n  rev: {revision}\n  hooks:\n  - id: gitcfg-check\n"
    )
    made.call("git", "add", "--all")
    code, said = made.call(str(program), "run", "gitcfg-check")
    assert code == 0, said
    made.call("git", "commit", "--quiet", "--message", "start")
    code, said = made.call(str(program), "install")
    assert code == 0, said
    return made


@pytest.fixture(autouse=True)
def _fresh(pool: Pool) -> None:
    """Each test begins with a right node that is committed."""
    pool.call("git", "reset", "--hard", "--quiet")
    pool.write(RIGHT)
    pool.call("git", "add", "--all")
    pool.call("git", "commit", "--no-verify", "--quiet", "--allow-empty", "--message", "right")


def test_a_mistake_is_told_and_refused(pool: Pool, program: Path) -> None:
    pool.write(MISTAKE)
    pool.call("git", "add", "--all")
    code, said = pool.call(str(program), "run")
    assert code == 1
    assert "error[GC201] There is no group nowhere." in said
    code, said = pool.commit()
    assert code == 1
    assert "error[GC201] There is no group nowhere." in said
    pool.write("description: Right.\n")
    pool.call("git", "add", "--all")
    assert pool.commit()[0] == 0


@pytest.mark.parametrize("words", [("--all",), ("--", "nodes/a.yaml")])
def test_what_would_be_committed_is_judged(words: tuple[str, ...], pool: Pool) -> None:
    pool.write(MISTAKE)
    code, said = pool.commit(*words)
    assert code == 1
    assert "GC201" in said
    pool.write("description: Right, too.\n")
    assert pool.commit(*words)[0] == 0


def test_what_is_not_staged_is_not_judged(pool: Pool) -> None:
    """pre-commit takes it away while its hooks run, and puts it back."""
    pool.write("description: Staged.\n")
    pool.call("git", "add", "--all")
    pool.write(MISTAKE)
    assert pool.commit()[0] == 0
    assert (pool.folder / "nodes/a.yaml").read_text() == MISTAKE
    pool.call("git", "add", "--all")
    pool.write(RIGHT)
    code, said = pool.commit()
    assert code == 1
    assert "GC201" in said
    assert (pool.folder / "nodes/a.yaml").read_text() == RIGHT


def test_a_path_alone_is_judged_without_what_else_is_staged(pool: Pool) -> None:
    (pool.folder / "nodes/b.yaml").write_text(MISTAKE)
    pool.call("git", "add", "--all")
    pool.write("description: This one only.\n")
    code, said = pool.commit("--", "nodes/a.yaml")
    assert code == 0, said
    pool.call("git", "rm", "--cached", "--quiet", "nodes/b.yaml")
    (pool.folder / "nodes/b.yaml").unlink()


def test_gitcfgs_own_hook_and_pre_commits_go_together(pool: Pool, program: Path) -> None:
    """Whichever came first, both run, and taking ours out leaves the other as it was."""
    hook = pool.folder / ".git/hooks/pre-commit"
    was = hook.read_bytes()
    gitcfg = [sys.executable, "-m", "gitcfg", "hook"]
    assert pool.call(*gitcfg, "install")[0] == 0
    pool.write(MISTAKE)
    code, said = pool.commit("--all")
    assert code == 1
    assert said.count("GC201] There is no group nowhere.") == 1, "the first refusal counts"
    pool.write("description: Both are content.\n")
    code, said = pool.commit("--all")
    assert (code, "gitcfg check" in said, "Nothing is wrong" in said) == (0, True, True)
    assert pool.call(*gitcfg, "remove")[0] == 0
    assert hook.read_bytes() == was
