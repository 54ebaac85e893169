"""The agent and the real server: from a key in git to a commit that reaches the node by itself."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.site import CONFIG, PROGRAM, ROOT, awaited
from tests.install.world import SCRIPT, World

pytest.importorskip("aiohttp")
pytestmark = pytest.mark.slow

FILES = {
    "gitcfg.yaml": "format: 1\nprotected: [refs/heads/main]\n",
    "parameters/all.yaml": "parameters:\n  TEXT: {description: A text., type: string}\n",
    "features/App.yaml": "params: {TEXT: one}\nfiles:\n  /etc/app/app.conf: {format: env, params: [TEXT]}\n",
    "nodes/n1.yaml": "features: [App]\n",
}
SUBSYSTEM = """subsystems:
  app:
    description: An application.
    params: [TEXT]
    validate: [{script}, validate, {folder}, "{{new}}{config}"]
    reload: [{script}, reload, {tail}]
    restart: [{script}, restart, {tail}]
    stop: [{script}, stop, {tail}]
    check: {{run: [{script}, check, {tail}], timeout: 20s}}
"""
AGENT = """server = "{url}"
server_key = "{key}"
node = "n1"
paths = ["/etc/app/**"]
commands = [["{script}", "**"]]
interval = "1s"
delay = "0s"
"""


class Pool:
    """A repository, its server as a process, and a node."""

    def __init__(self, folder: Path, world: World) -> None:
        self.repo = folder / "pool"
        self.world = world
        self.environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **{
                f"GIT_{who}_{what}": "t@example.com"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        }

    def commit(self, files: dict[str, str]) -> str:
        for path, text in files.items():
            (self.repo / path).parent.mkdir(parents=True, exist_ok=True)
            (self.repo / path).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        line = ["git", "-C", str(self.repo), *words]
        return subprocess.run(
            line, check=True, capture_output=True, text=True, env=self.environment
        ).stdout.strip()

    def agent(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(self.line(*words), capture_output=True, text=True, cwd=ROOT, timeout=60)

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-c", PROGRAM, *words, "--root", str(self.world.root)]


@pytest.fixture
def pool(tmp_path: Path, world: World) -> Iterator[Pool]:
    made = Pool(tmp_path, world)
    world.daemon("app", CONFIG)
    folder = world.daemons / "app"
    tail = f"{folder}, {world.root}{CONFIG}, {sys.executable}"
    made.repo.mkdir()
    made.git("init", "-q", "-b", "main")
    made.commit(
        {
            **FILES,
            "subsystems/all.yaml": SUBSYSTEM.format(script=SCRIPT, folder=folder, config=CONFIG, tail=tail),
        }
    )
    line = [sys.executable, "-m", "gitcfg", "-C", str(made.repo), "serve", "--listen", "127.0.0.1:0"]
    log = tmp_path / "log"
    with log.open("w") as out:
        server = subprocess.Popen(line, stdout=out, stderr=out, cwd=ROOT, env=made.environment)
    try:
        awaited(lambda: "server_key" in log.read_text() or server.poll() is not None, 60)
        found = re.search(r"(http://[^ ]*\d)\.?\s", log.read_text())
        key = re.search(r'server_key = "([^"]+)"', log.read_text())
        assert found is not None, log.read_text()
        assert key is not None
        world.write("/etc/gitcfg/agent.toml", AGENT.format(url=found[1], key=key[1], script=SCRIPT)).chmod(
            0o600
        )
        yield made
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def test_from_a_key_in_git_to_a_commit_that_arrives_by_itself(pool: Pool) -> None:
    line = pool.agent("key").stdout
    awaited(lambda: pool.agent("run", "--once").returncode != 5, 30)  # the server is ready
    first = pool.agent("run", "--once")
    assert (first.returncode, "gitcfg node accept n1" in first.stderr) == (4, True), first.stderr
    pool.commit({"keys/n1.txt": line})
    awaited(lambda: pool.agent("run", "--once").returncode == 0, 30)
    assert pool.world.runs_with("app") == "TEXT=one\n"
    daemon = subprocess.Popen(pool.line("run"), stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        feature = FILES["features/App.yaml"]
        pool.commit({"features/App.yaml": feature.replace("one", "two")})
        awaited(lambda: pool.world.runs_with("app") == "TEXT=two\n")
        pool.commit({"features/App.yaml": feature.replace("one", "bad")})
        awaited(lambda: "reverted" in pool.agent("status").stdout)
        assert pool.world.runs_with("app") == "TEXT=two\n"
        fixed = pool.commit({"features/App.yaml": feature.replace("one", "three")})
        awaited(lambda: pool.world.runs_with("app") == "TEXT=three\n")
        awaited(lambda: f"runs      {fixed[:10]}" in pool.agent("status").stdout)
    finally:
        daemon.send_signal(signal.SIGTERM)
        said = daemon.communicate(timeout=30)[1]
    assert daemon.returncode == 0
    assert "reverted at `reload app`" in said


def test_what_node_policy_writes_lets_the_node_do_all_it_needs_and_no_more(pool: Pool) -> None:
    settings = pool.world.root / "etc/gitcfg/agent.toml"
    head = [line for line in settings.read_text().splitlines() if not line.startswith(("paths", "commands"))]

    def written() -> None:
        line = [sys.executable, "-m", "gitcfg", "-C", str(pool.repo), "node", "policy", "n1"]
        policy = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=True).stdout
        settings.write_text("\n".join([*head, policy]))

    written()
    pool.commit({"keys/n1.txt": pool.agent("key").stdout})
    awaited(lambda: pool.agent("run", "--once").returncode == 0, 30)
    assert pool.world.runs_with("app") == "TEXT=one\n"
    more = "  /etc/app/more.conf: {format: env, params: [TEXT]}\n"
    pool.commit({"features/App.yaml": FILES["features/App.yaml"].replace("one", "two") + more})
    awaited(lambda: "/etc/app/more.conf" in pool.agent("run", "--once").stderr, 30)
    assert pool.world.runs_with("app") == "TEXT=one\n"
    written()
    awaited(lambda: pool.agent("run", "--once").returncode == 0, 30)
    assert pool.world.runs_with("app") == "TEXT=two\n"
