"""`gitcfg init` and `gitcfg import` with real git: what they make is right, and stays so."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.published import judge

WHO = {
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "e@example.org",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "e@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which hooks find this gitcfg."""
    program = tmp_path / "bin" / "gitcfg"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m gitcfg "$@"\n')
    program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITCFG_"))}
    return kept | WHO | {"PATH": f"{program.parent}:{os.environ['PATH']}"}


def git(folder: Path, environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("pack", ["empty", "web", "htcondor"])
def test_a_new_repository_is_without_findings(
    pack: str, tmp_path: Path, environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    pool = tmp_path / "pool"
    subprocess.run(["gitcfg", "init", str(pool), "--from", pack], env=environment, check=True)
    git(pool, environment, "add", "--all")
    git(pool, environment, "commit", "--quiet", "--message", "start")
    capfd.readouterr()
    assert run(["-C", str(pool), "check", "--at", "HEAD"]) == 0
    assert capfd.readouterr().out == ""
    assert git(pool, environment, "status", "--porcelain").stdout == ""


def test_the_examples_are_right_where_they_are_copied(
    tmp_path: Path, environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["gitcfg", "init", str(tmp_path / "fleet")], env=environment, check=True)
    shutil.copytree(tmp_path / "fleet/examples", tmp_path / "fleet", dirs_exist_ok=True)
    capfd.readouterr()
    assert run(["-C", str(tmp_path / "fleet"), "check"]) == 0
    assert capfd.readouterr().err == "Nothing is wrong: 4 nodes, 2 groups, 1 feature, 3 parameters.\n"


def test_the_hook_refuses_a_mistake_however_it_is_committed(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    pool = tmp_path / "pool"
    subprocess.run(["gitcfg", "init", str(pool), "--from", "htcondor"], env=environment, check=True)
    git(pool, environment, "add", "--all")
    git(pool, environment, "commit", "--quiet", "--allow-empty", "--message", "start")
    head = git(pool, environment, "rev-parse", "HEAD").stdout
    group = pool / "groups" / "Workers.yaml"
    group.write_text(group.read_text() + "  NO_SUCH_PARAMETER: 1\n")
    for words in (["--all"], ["--", "groups/Workers.yaml"]):
        done = git(pool, environment, "commit", "--message", "mistake", *words)
        assert done.returncode != 0
        assert "NO_SUCH_PARAMETER" in done.stdout + done.stderr
        assert git(pool, environment, "rev-parse", "HEAD").stdout == head
    (pool / "groups" / "unrelated.yaml").write_text("params: {NO_SUCH_PARAMETER: 1}\n")
    group.write_text(group.read_text().replace("  NO_SUCH_PARAMETER: 1\n", "  RACK_NAME: A9\n"))
    done = git(pool, environment, "commit", "--all", "--message", "what is not committed is not judged")
    assert done.returncode == 0, done.stderr


def test_what_is_there_is_never_overwritten(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups/default.yaml").write_text("mine\n")
    assert run(["init", str(tmp_path)]) == 4
    assert "already exists" in capfd.readouterr().err
    assert (tmp_path / "groups/default.yaml").read_text() == "mine\n"
    assert not (tmp_path / "gitcfg.yaml").exists()


def test_a_hook_that_is_there_runs_first(
    tmp_path: Path, environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, environment, "init", "--quiet", "pool")
    hook = tmp_path / "pool/.git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho the old hook\nexit 1\n")
    hook.chmod(0o755)
    assert run(["init", str(tmp_path / "pool")]) == 0
    assert "it runs first" in capfd.readouterr().err
    done = git(tmp_path / "pool", environment, "commit", "--allow-empty", "-m", "a")
    assert (done.returncode, done.stdout + done.stderr) == (1, "the old hook\n")
    assert run(["-C", str(tmp_path / "pool"), "hook", "remove"]) == 0
    assert hook.read_text() == "#!/bin/sh\necho the old hook\nexit 1\n"


def test_a_folder_of_hooks_for_all_repositories_is_left_alone(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    home = tmp_path / "home"
    (home / "hooks").mkdir(parents=True)
    (home / ".gitconfig").write_text(f"[core]\n\thooksPath = {home}/hooks\n")
    told = environment | {"HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    words = ["gitcfg", "init", str(tmp_path / "pool")]
    done = subprocess.run(words, env=told, check=True, capture_output=True, text=True)
    assert "for all repositories, so no hook was installed" in done.stderr
    assert "pre-commit checks" not in done.stderr
    assert list((home / "hooks").iterdir()) == []


DUMP = """--- !ruby/object:Mrg::Grid::SerializedConfigs::Store
features:
- !ruby/object:Mrg::Grid::SerializedConfigs::Feature
  name: Master
  annotation: Runs daemons
  included: []
  depends: []
  conflicts: []
  params:
    DAEMON_LIST: ">= MASTER"
groups:
- !ruby/object:Mrg::Grid::SerializedConfigs::Group
  name: "+++DEFAULT"
  is_identity_group: false
  features:
  - Master
  params: {}
nodes:
- !ruby/object:Mrg::Grid::SerializedConfigs::Node
  name: node1.example.com
  membership: []
  provisioned: true
params:
- !ruby/object:Mrg::Grid::SerializedConfigs::Parameter
  name: DAEMON_LIST
  kind: String
  default_val: ""
  description: The daemons
  must_change: false
  level: 0
  needs_restart: true
  depends: []
  conflicts: []
subsystems: []
"""


def test_a_wallaby_dump_becomes_a_repository(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump.yaml"
    dump.write_text(DUMP)
    pool = tmp_path / "pool"
    assert run(["import", "wallaby", str(dump), str(pool)]) == 0
    assert "Next:" in capfd.readouterr().err
    assert run(["-C", str(pool), "render", "node1.example.com"]) == 0
    assert "DAEMON_LIST = MASTER\n" in capfd.readouterr().out
    assert run(["import", "wallaby", str(dump), str(pool)]) == 4
    capfd.readouterr()
    assert run(["import", "wallaby", str(dump), str(tmp_path / "other"), "-o", "json"]) == 0
    text = capfd.readouterr().out
    judge(text, "json")
    found = json.loads(text)
    assert (found["folder"], found["hook"]) == (str(tmp_path / "other"), True)
    files = [path for path in (tmp_path / "other").rglob("*") if path.is_file() and ".git" not in path.parts]
    assert found["created"] == len(files)


@pytest.mark.parametrize("text", ["", "a: 1\n", DUMP[:600], "--- [", "\0"])
def test_what_is_no_dump_is_refused_and_nothing_is_written(
    text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    dump = tmp_path / "dump.yaml"
    dump.write_text(text)
    assert run(["import", "wallaby", str(dump), str(tmp_path / "pool")]) == 2
    assert capfd.readouterr().err.startswith("error: ")
    assert not (tmp_path / "pool").exists()


def test_git_says_who_commits(tmp_path: Path, environment: dict[str, str]) -> None:
    told = environment | {"HOME": str(tmp_path), "GIT_AUTHOR_DATE": "2026-01-02T03:04:05 -0130"}
    subprocess.run(["gitcfg", "init", str(tmp_path / "pool")], env=told, check=True)
    shown = git(tmp_path / "pool", told, "log", "--format=%an <%ae> %aI %cn").stdout
    assert shown == "n <e@example.org> 2026-01-02T03:04:05-01:30 n\n"


def test_without_anybody_nothing_is_committed(tmp_path: Path, environment: dict[str, str]) -> None:
    nobody = {name: value for name, value in environment.items() if name not in WHO}
    nobody |= {"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1"}
    nobody |= {"GIT_CONFIG_KEY_0": "user.useConfigOnly", "GIT_CONFIG_VALUE_0": "true"}
    done = subprocess.run(
        ["gitcfg", "init", str(tmp_path / "pool")], env=nobody, check=True, capture_output=True, text=True
    )
    assert "nothing is committed yet" in done.stderr
    assert git(tmp_path / "pool", nobody, "rev-parse", "HEAD").returncode != 0


def test_a_folder_of_a_repository_is_committed_only_if_it_is_the_first(
    tmp_path: Path, environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, environment, "init", "--quiet", ".")
    assert run(["init", str(tmp_path / "one")]) == 0
    assert "hint" not in capfd.readouterr().err
    assert run(["init", str(tmp_path / "two")]) == 0
    assert "The repository has commits already" in capfd.readouterr().err
    told = git(tmp_path, environment, "ls-files").stdout.split()
    assert "one/gitcfg.yaml" in told
    assert "two/gitcfg.yaml" not in told
