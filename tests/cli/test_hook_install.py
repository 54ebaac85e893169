"""`gitcfg hook install` and `remove` with real git: commits and pushes are refused, and no longer are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.bundled import folder
from gitcfg.cli.main import run
from tests.cli.test_init import WHO

MISTAKE = {"nodes/a.yaml": "groups: [nowhere]\n"}
RIGHT = {"gitcfg.yaml": "format: 1\n", "nodes/a.yaml": "description: A node.\n"}

Told = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings but those of a test, for git and for its library."""
    for name in os.environ:
        if name.startswith(("GIT_", "GITCFG_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    for name, value in {**WHO, "HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / ".gitconfig")}.items():
        monkeypatch.setenv(name, value)
    (home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n")


def git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", "--all")


def commit(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    write(folder, files)
    return git(folder, "commit", "--message", "a change")


def refuses(folder: Path, inside: str = "") -> bool:
    """Is a mistake refused, and what is right taken?"""
    mistake = commit(folder, {f"{inside}{path}": text for path, text in MISTAKE.items()})
    assert (mistake.returncode != 0) is ("GC201" in mistake.stdout + mistake.stderr)
    right = {f"{inside}nodes/a.yaml": f"description: A node {os.urandom(4).hex()}.\n"}
    assert commit(folder, right).returncode == 0
    return mistake.returncode != 0


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    made = tmp_path / "a 'pool' of \"$HOME\" machines"
    made.mkdir()
    git(made, "init", "--quiet")
    commit(made, RIGHT)
    return made


def script(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def test_commits_are_checked_until_the_hook_is_removed(pool: Path, capfd: Told) -> None:
    hook = pool / ".git/hooks/pre-commit"
    assert run(["-C", str(pool), "hook", "install"]) == 0
    assert capfd.readouterr().out == f"wrote {hook}\n"
    assert refuses(pool)
    assert hook.stat().st_mode & 0o777 == 0o755
    assert run(["-C", str(pool), "hook", "install"]) == 0
    assert capfd.readouterr().out == f"{hook} already exists\n"
    assert run(["-C", str(pool), "hook", "remove"]) == 0
    assert capfd.readouterr().out == f"removed {hook}\n"
    assert not refuses(pool)
    assert run(["-C", str(pool), "hook", "remove"]) == 0
    assert capfd.readouterr().out == f"no gitcfg hook in {hook.parent}\n"


def test_a_hook_that_was_there_runs_first(pool: Path, capfd: Told) -> None:
    hook = script(pool / ".git/hooks/pre-commit", "echo first; test ! -e forbidden")
    was = hook.read_bytes()
    assert run(["-C", str(pool), "hook", "install"]) == 0
    kept = "pre-commit.before-gitcfg"
    assert capfd.readouterr().out == f"moved {hook} to {kept}: it runs first\nwrote {hook}\n"
    done = commit(pool, MISTAKE)
    said = done.stdout + done.stderr
    assert said.index("first") < said.index("GC201")
    done = commit(pool, {**RIGHT, "forbidden": ""})
    assert (done.returncode, done.stdout + done.stderr) == (1, "first\n")
    assert run(["-C", str(pool), "hook", "remove"]) == 0
    assert capfd.readouterr().out == f"moved {kept} back to {hook}\n"
    assert hook.read_bytes() == was


@pytest.mark.parametrize("path", ["my hooks", "{}/elsewhere", "~/hooks"])
def test_hooks_are_put_where_git_looks(path: str, pool: Path, tmp_path: Path) -> None:
    said = path.format(tmp_path)
    git(pool, "config", "core.hooksPath", said)
    if path == "my hooks":
        (pool / ".gitignore").write_text("/my hooks/\n")
    assert run(["-C", str(pool), "hook", "install"]) == 0
    hooks = pool / Path(said).expanduser()
    assert (hooks / "pre-commit").is_file()
    assert not (pool / ".git/hooks/pre-commit").exists()
    assert refuses(pool)
    assert run(["-C", str(pool), "hook", "remove"]) == 0
    assert not hooks.exists()  # install had made it


def process(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: git's library asks only once which settings are the user's."""
    command = [sys.executable, "-m", "gitcfg", "hook", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_hooks_that_all_repositories_share_leave_others_alone(pool: Path, tmp_path: Path) -> None:
    hooks = tmp_path / "home/hooks"
    git(pool, "config", "--global", "core.hooksPath", str(hooks))
    assert "for all repositories" in process(pool, "install").stderr
    assert refuses(pool)
    git(tmp_path, "init", "--quiet", "other")
    assert commit(tmp_path / "other", {"README": ""}).returncode == 0
    git(tmp_path, "init", "--bare", "--quiet", "pool.git")
    assert process(tmp_path, "install", "--server", "pool.git").returncode == 4
    assert not (hooks / "pre-receive").exists()


def test_work_trees_share_the_hook(pool: Path, tmp_path: Path) -> None:
    other = tmp_path / "another tree"
    git(pool, "worktree", "add", "-b", "topic", str(other))
    assert run(["-C", str(other), "hook", "install"]) == 0
    assert (pool / ".git/hooks/pre-commit").is_file()
    assert refuses(other)
    assert refuses(pool)


def test_gitcfg_may_begin_in_a_folder(tmp_path: Path, capfd: Told) -> None:
    git(tmp_path, "init", "--quiet", "all")
    everything = tmp_path / "all"
    inside = 'sites/it\'s "north"/'
    assert commit(everything, {f"{inside}{path}": text for path, text in RIGHT.items()}).returncode == 0
    assert run(["-C", str(everything / inside), "hook", "install"]) == 0
    assert refuses(everything, inside)
    assert commit(everything, {"README": "nothing to check\n"}).returncode == 0
    git(everything, "checkout", "--quiet", "--orphan", "pages")
    git(everything, "rm", "-r", "--quiet", "--force", ".")
    assert commit(everything, {"index.html": ""}).returncode == 0, "a branch that has no gitcfg.yaml"
    capfd.readouterr()
    git(everything, "checkout", "--quiet", "main")
    write(everything, {"south/gitcfg.yaml": "format: 1\n"})
    assert run(["-C", str(everything / "south"), "hook", "install"]) == 4
    assert "already checks the folder sites/it's" in capfd.readouterr().err


@pytest.fixture
def server(tmp_path: Path) -> Path:
    made = tmp_path / "the pool's server.git"
    git(tmp_path, "init", "--bare", "--quiet", str(made))
    return made


def push(pool: Path, server: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return git(pool, "push", *words, str(server), "HEAD:refs/heads/main")


def state(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_pushes_are_judged_until_the_hooks_are_removed(pool: Path, server: Path, capfd: Told) -> None:
    was = state(server)
    assert run(["hook", "install", "--server", str(server)]) == 0
    told = capfd.readouterr()
    assert told.out == (
        f"wrote {server}/hooks/pre-receive\nwrote {server}/hooks/post-receive\n"
        f"set receive.advertisePushOptions and receive.fsckObjects to true in {server}/config\n"
        "protected: refs/heads/main\ncheck: tip, ratchet: false, signatures: off\n"
    )
    assert told.err == ""
    first = push(pool, server, "--push-option=gitcfg.reason=the first one")
    assert first.returncode == 0, first.stderr
    assert "reason: the first one" in first.stderr
    commit(pool, MISTAKE)
    done = push(pool, server)
    assert done.returncode == 1
    assert "remote: error[GC201]" in done.stderr
    assert "pre-receive hook declined" in done.stderr
    assert run(["hook", "remove", "--server", str(server)]) == 0
    assert capfd.readouterr().out == (
        f"removed receive.advertisePushOptions and receive.fsckObjects from {server}/config\n"
        f"removed {server}/hooks/pre-receive\nremoved {server}/hooks/post-receive\n"
    )
    now = state(server)
    assert {path: text for path, text in now.items() if path in was} == was
    assert [path for path in now if path.startswith("hooks/") and path not in was] == []
    assert push(pool, server).returncode == 0


def test_a_servers_own_hooks_go_on_running(pool: Path, server: Path) -> None:
    log = server / "log"
    for name in ("pre-receive", "post-receive"):
        script(server / "hooks" / name, f'{{ echo {name} "$GIT_PUSH_OPTION_0"; cat; }} >> log')
    was = state(server / "hooks")
    assert run(["hook", "install", "--server", str(server)]) == 0
    assert push(pool, server, "--push-option=for the old hook").returncode == 0
    new = git(pool, "rev-parse", "HEAD").stdout.strip()
    line = f"{'0' * 40} {new} refs/heads/main\n"
    assert log.read_text() == f"pre-receive for the old hook\n{line}post-receive for the old hook\n{line}"
    script(server / "hooks/pre-receive.before-gitcfg", "echo not today; exit 1")
    git(pool, "commit", "--allow-empty", "--message", "again")
    done = push(pool, server)
    assert (done.returncode, "remote: not today" in done.stderr) == (1, True)
    assert "repeats the check" not in done.stderr
    script(
        server / "hooks/pre-receive.before-gitcfg",
        '{ echo pre-receive "$GIT_PUSH_OPTION_0"; cat; } >> log',
    )
    assert run(["hook", "remove", "--server", str(server)]) == 0
    assert state(server / "hooks") == was


def test_without_the_program_no_push_is_taken(pool: Path, server: Path) -> None:
    assert run(["hook", "install", "--server", str(server)]) == 0
    hook = server / "hooks/pre-receive"
    gone = "/no/such/gitcfg"
    lines = hook.read_text().splitlines()
    at = lines.index("gitcfg() {") + 1
    lines[at] = f'    {gone} "$@"'
    hook.write_text("\n".join(lines) + "\n")
    done = push(pool, server)
    assert done.returncode == 1
    assert "nothing can be checked and nothing is accepted" in done.stderr
    assert "gitcfg hook install --server" in done.stderr
    assert git(server, "rev-parse", "--verify", "main").returncode != 0
    assert run(["hook", "install", "--server", str(server)]) == 0
    assert push(pool, server).returncode == 0


def test_a_work_tree_can_be_pushed_to(pool: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", str(pool), "desk")
    git(pool, "config", "receive.denyCurrentBranch", "updateInstead")
    assert run(["hook", "install", "--server", str(pool)]) == 0
    commit(tmp_path / "desk", MISTAKE)
    done = push(tmp_path / "desk", pool)
    assert done.returncode == 1
    assert "GC201" in done.stderr


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"gitcfg.protected": "refs/heads/production"},
            "refs/heads/main, which HEAD names, is not protected",
        ),
        ({"gitcfg.signatures": "require"}, "there are no allowed signers"),
        ({"gitcfg.folder": "south"}, "there is no gitcfg.yaml at the root of refs/heads/main"),
    ],
)
def test_what_is_worth_a_look_is_told(
    said: dict[str, str], told: str, pool: Path, server: Path, capfd: Told
) -> None:
    push(pool, server)
    for name, value in said.items():
        git(server, "config", name, value)
    assert run(["hook", "install", "--server", str(server)]) == 0
    out = capfd.readouterr()
    assert told in out.err
    for name, value in said.items():
        assert f"git config {name.lower()}: {value}\n" in out.out


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"gitcfg.ratchet": "perhaps"}, "gitcfg.ratchet has an invalid value"),
        ({"gitcfg.allowedSigners": "/no/such/file"}, "names '/no/such/file'"),
    ],
)
def test_settings_that_are_wrong_are_told_first(
    said: dict[str, str], told: str, server: Path, capfd: Told
) -> None:
    for name, value in said.items():
        git(server, "config", name, value)
    was = state(server)
    assert run(["hook", "install", "--server", str(server)]) == 2
    assert told in capfd.readouterr().err
    assert state(server) == was


@pytest.mark.parametrize("name", ["nothing", "a folder", "pool/nodes", "pool/broken"])
@pytest.mark.parametrize("word", ["install", "remove"])
def test_what_is_no_repository_is_refused(word: str, name: str, tmp_path: Path, capfd: Told) -> None:
    """Not even a folder of one: a slip must not put hooks into the repository around it."""
    (tmp_path / "a folder").mkdir()
    git(tmp_path, "init", "--quiet", "pool")
    commit(tmp_path / "pool", RIGHT)
    (tmp_path / "pool/broken/.git").mkdir(parents=True)
    was = state(tmp_path)
    assert run(["hook", word, "--server", str(tmp_path / name)]) == 2
    assert f"{tmp_path / name} is not a git repository" in capfd.readouterr().err
    assert state(tmp_path) == was


def test_a_bare_repository_has_no_commits_to_check(server: Path, capfd: Told) -> None:
    assert run(["-C", str(server), "hook", "install"]) == 2
    told = capfd.readouterr().err
    assert "has no work tree" in told
    assert "--server" in told


def test_a_folder_without_git_has_no_hooks(tmp_path: Path, capfd: Told) -> None:
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    assert run(["-C", str(tmp_path), "hook", "install"]) == 2
    assert "so it has no hooks" in capfd.readouterr().err


def test_the_hook_goes_where_gitcfg_yaml_has_gone(pool: Path) -> None:
    assert run(["-C", str(pool), "hook", "install"]) == 0
    (pool / "gitcfg.yaml").unlink()
    assert commit(pool, {}).returncode != 0
    assert run(["-C", str(pool), "hook", "remove"]) == 0
    assert commit(pool, {}).returncode == 0


@pytest.mark.parametrize("name", ["pre-commit", "pre-receive", "post-receive"])
def test_the_scripts_for_hand_made_hooks_call_what_the_installed_ones_do(name: str) -> None:
    text = (folder("hooks") / name).read_text()
    assert text.startswith("#!/bin/sh\n# ")
    assert text.endswith(f"\nexec gitcfg --no-pager hook {name}\n")


def test_a_head_that_leads_nowhere_is_worth_a_look(pool: Path, server: Path, capfd: Told) -> None:
    git(pool, "push", "--quiet", str(server), "HEAD:refs/heads/trunk")
    assert run(["hook", "install", "--server", str(server)]) == 0
    told = capfd.readouterr().err
    assert "HEAD names refs/heads/main, which does not exist" in told
    assert "`git symbolic-ref HEAD refs/heads/trunk`" in told
