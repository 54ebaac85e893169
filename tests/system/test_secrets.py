"""A secret goes from a keyboard to the nodes that may have it, and stands nowhere else on its way."""

import base64
import json
import re
import secrets
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitcfg.server.description import FILE as OPENAPI
from tests.agent.site import PROGRAM, ROOT, awaited
from tests.agent.test_tls import certificate
from tests.install.world import World
from tests.server.agent import Answer
from tests.server.site import GITCFG, Server, Site, run, until
from tests.system.searching import Search

CONFIG = "/etc/app/app.conf"
AGENT = """server = "{url}"
server_key = "{key}"
ca = "{ca}"
node = "{name}"
paths = ["/etc/app/**"]
commands = [["**"]]
drift = "repair"
interval = "1s"
delay = "0s"
reach = "0s"
"""
DESCRIBED = {
    "gitcfg.yaml": "format: 1\nprotected: [refs/heads/main]\n",
    "parameters/all.yaml": "parameters:\n  PASSWORD: {type: string, secret: true}\n  WISH: {type: string}\n",
    "features/App.yaml": "params:\n  PASSWORD: {$secret: pool}\n  WISH: good\n"
    f"files:\n  {CONFIG}: {{template: app.conf.j2}}\n",
    "templates/app.conf.j2": "# {{ params.WISH }}\npassword = {{ params.PASSWORD }}\n",
    "nodes/n1.yaml": "features: [App]\n",
    "nodes/n2.yaml": "groups: []\n",
}
SHOW = 'cat "$1"; grep -q "^# good" "$1"'
"""Shows all that it is given, and is content with it or not."""


class Guarded(Server):
    """A server that speaks TLS."""

    ca = Path()

    def get(self, target: str, token: str = "", method: str = "GET", **headers: str) -> Answer:
        said = {"Authorization": f"Bearer {token}", **headers} if token else headers
        asked = urllib.request.Request(self.url + target, headers=said, method=method)
        try:
            with urllib.request.urlopen(
                asked, context=ssl.create_default_context(cafile=str(self.ca))
            ) as found:
                return Answer(found.status, found.getheaders(), found.read(1 << 24))
        except urllib.error.HTTPError as error:
            return Answer(error.code, list(error.headers.items()), error.read())


class Node:
    """A root folder, and an agent that is a process of its own."""

    def __init__(self, place: Path, name: str, server: Server) -> None:
        self.name, self.log = name, place / f"{name}.log"
        self.world = World(place / name / "root", place / name / "daemons")
        self.agent: subprocess.Popen[bytes] | None = None
        text = AGENT.format(url=server.url, key=server.key, ca=Guarded.ca, name=name)
        self.world.write("/etc/gitcfg/agent.toml", text).chmod(0o600)

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-c", PROGRAM, *words, "--root", str(self.world.root)]

    def call(self, *words: str) -> str:
        done = subprocess.run(
            self.line(*words), capture_output=True, text=True, timeout=60, cwd=ROOT, check=False
        )
        return done.stdout + done.stderr

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.agent = subprocess.Popen(self.line("run"), stdout=log, stderr=log, cwd=ROOT)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        agent, self.agent = self.agent, None
        if agent is not None:
            agent.send_signal(how)
            agent.wait(30)

    @property
    def stands(self) -> str:
        path = self.world.root / CONFIG[1:]
        return path.read_text() if path.exists() else ""


class Pool:
    """A repository with the gate, its server, and two nodes, one of which has a secret."""

    def __init__(self, place: Path) -> None:
        self.place, self.site, self.said = place, Site(place / "site"), ""
        Guarded.ca = certificate(place, "127.0.0.1")
        run(*GITCFG, "hook", "install", "--server", str(self.site.bare), cwd=self.site.work)
        first = self.site.push({"gitcfg.yaml": DESCRIBED["gitcfg.yaml"]})
        self.server = self.serve()
        assert self.server.process.stdout is not None
        self.server.process.stdout.readline()
        self.reader = self.server.process.stdout.readline().strip()
        self.server.accepted(first)
        self.token = self.server.token()
        self.nodes = [Node(place, name, self.server) for name in ("n1", "n2")]
        self.marks = place / "marks"
        self.marks.mkdir()

    def serve(self) -> Server:
        pem = str(Guarded.ca)
        return Guarded(self.site, "--tls-cert", pem, "--tls-key", pem, "--log-level", "debug", name="server")

    def gitcfg(self, *words: str, content: str = "") -> str:
        """Run gitcfg in the clone; all that it says is kept."""
        line = [*GITCFG, *words]
        done = subprocess.run(
            line, cwd=self.site.work, input=content, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), (words, done.stdout, done.stderr)
        self.said += done.stdout + done.stderr
        return done.stdout

    def described(self) -> dict[str, str]:
        """`app` shows its file wherever it is asked: before it is exchanged, and when it is reloaded."""
        show = json.dumps(["/bin/sh", "-c", SHOW, "app", f"{{new}}{CONFIG}"])
        slow = f"cat {self.nodes[0].world.root}{CONFIG}; while [ -e {self.marks}/hold ]; do sleep 0.05; done"
        reload = json.dumps(["/bin/sh", "-c", slow])
        subsystem = (
            f"subsystems:\n  app:\n    params: [PASSWORD, WISH]\n    validate: {show}\n    reload: {reload}\n"
        )
        keys = "".join(node.call("key").splitlines()[0] + "\n" for node in self.nodes)
        return {**DESCRIBED, "subsystems/app.yaml": subsystem, "keys/all.txt": keys}

    def push(self, files: dict[str, str]) -> str:
        commit = self.site.push(files)
        self.server.accepted(commit)
        return commit

    def everything(self) -> Iterator[bytes]:
        """What the server answers who has a token: all that can be asked, and the pages."""
        described: dict[str, Any] = json.loads(OPENAPI.read_text())
        names = {"node": "n1", "commit": self.site.head(), "param": "PASSWORD"}
        paths = [path for path, said in described["paths"].items() if "get" in said and path != "/v1/events"]
        for path in [*paths, "/", "/nodes/n1", f"/nodes/n1/files{CONFIG}", "/search?q=PASSWORD"]:
            yield self.server.get(re.sub(r"{(\w+)}", lambda found: names[found[1]], path), self.token).body

    def close(self) -> None:
        for node in self.nodes:
            node.end(signal.SIGKILL)
        self.server.process.kill()
        self.server.stop()


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    made = Pool(tmp_path)
    yield made
    made.close()


def last(pool: Pool) -> dict[str, Any]:
    """What n1 said of its last installation."""
    found = pool.server.get("/v1/nodes/n1", pool.token).json()
    return dict(found["result"] or {})


@pytest.mark.slow
def test_a_secret_stands_where_it_is_meant_and_nowhere_else(pool: Pool) -> None:
    first, second, third = (f"canary{secrets.token_hex(12)}" for _ in range(3))
    search, (n1, n2) = Search(first, second, third), pool.nodes
    within = tuple(n1.world.state(name) for name in ("staged", "backup"))

    def meant(path: Path) -> bool:
        """The file itself, beside it while it is exchanged, and what only root can enter meanwhile."""
        return path.parent == n1.world.root / "etc/app" or any(one in path.parents for one in within)

    def seen() -> list[str]:
        states = (node.world.state(".") for node in pool.nodes)
        return search.files(*states, pool.place / "tmp", but=meant)

    def settled(content: str) -> None:
        awaited(lambda: n1.stands.endswith(f"password = {content}\n"), 60)
        awaited(lambda: not any(one.exists() for one in within), 60)
        assert not search.files(pool.place, but=lambda path: str(path) == f"{n1.world.root}{CONFIG}")

    with search.looking_on(seen):
        pool.gitcfg(
            *("secret", "set", "pool", "--for", 'node.name == "n1"', "--recipient", pool.reader),
            content=f"{first}\n",
        )
        pool.push(pool.described())
        for node in pool.nodes:
            node.start()
        settled(first)
        assert n1.world.root.joinpath(CONFIG[1:]).stat().st_mode & 0o777 == 0o600

        # A new version; the agent dies while the application takes it, and another goes back and on.
        (pool.marks / "hold").touch()
        pool.gitcfg("secret", "set", "pool", content=second)
        pool.push({})
        awaited(lambda: second in n1.stands, 60)
        n1.end(signal.SIGKILL)
        (pool.marks / "hold").unlink()
        assert any(one.exists() for one in within)
        n1.start()
        settled(second)

        # A commit that the application refuses, and shows why with all that it has read.
        bad = pool.push({"features/App.yaml": DESCRIBED["features/App.yaml"].replace("good", "bad")})
        awaited(lambda: last(pool).get("outcome") == "reverted" and last(pool)["commit"] == bad, 60)
        assert "<secret>" in last(pool)["output"]
        settled(second)
        good = pool.push({"features/App.yaml": DESCRIBED["features/App.yaml"]})
        until(lambda: pool.server.get("/v1/nodes/n1", pool.token).json()["running"]["commit"] == good)

        # Somebody changes it by hand, and it is fetched anew; the server dies, too.
        n1.world.root.joinpath(CONFIG[1:]).write_text("by hand\n")
        settled(second)
        pool.server.process.kill()
        pool.server.process.wait()
        time.sleep(1)
        url = pool.server.url.rpartition(":")[2]
        pool.server.stop()
        pool.server = Guarded(
            pool.site,
            *("--tls-cert", str(Guarded.ca), "--tls-key", str(Guarded.ca), "--log-level", "debug"),
            listen=f"127.0.0.1:{url}",
        )
        pool.gitcfg("secret", "set", "pool", content=third)
        pool.push({})
        settled(third)

        answers = list(pool.everything())
        told = [node.call(*words) for node in pool.nodes for words in (("status",), ("drift",))]
        for words in (
            ("log", "n1"),
            ("explain", "n1", "PASSWORD"),
            ("render", "n1"),
            ("check",),
            ("diff", "HEAD~1"),
            ("secret", "list"),
        ):
            pool.gitcfg(*words)
    assert not search.found
    assert not any(search.within(body) for body in answers)
    assert not search.within("".join([*told, pool.said, n1.log.read_text(), n2.log.read_text()]).encode())
    assert not search.objects(pool.site.bare)
    assert not search.objects(pool.site.work)
    assert "<secret pool v3>" in pool.said
    assert n2.stands == ""
    for node in pool.nodes:
        assert node.agent is not None
        limits = Path(f"/proc/{node.agent.pid}/limits").read_text()
        assert re.search(r"Max core file size +0 ", limits)


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """Else all of this would hold of anything."""
    word = "canary0123456789"
    search = Search(word)
    for number, text in enumerate((word, f"..{word}", word.encode().hex(), word[::-1])):
        (tmp_path / str(number)).write_text(text)
    assert len(search.files(tmp_path)) == 4
    for before in range(7):
        assert search.within(base64.b64encode(b"y" * before + word.encode() + b"z" * 5))
    run("git", "init", "-q", str(tmp_path / "git"), cwd=tmp_path)
    assert not search.objects(tmp_path / "git")
    run("git", "hash-object", "-w", str(tmp_path / "0"), cwd=tmp_path / "git")
    assert search.objects(tmp_path / "git")
    with search.looking_on(lambda: search.files(tmp_path)):
        subprocess.run([sys.executable, "-c", "import time; time.sleep(0.5)", word], check=True)
    assert any("cmdline" in one for one in search.found)
    assert str(tmp_path / "0") in search.found
