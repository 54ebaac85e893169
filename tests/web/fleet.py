"""A pool of three hundred nodes in the middle of a release, in which all happens that pages tell of."""

import shutil
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from gitcfg.nodeset import expand
from tests.server.agent import Node
from tests.server.site import Server, Site, run, until

SAMPLE = Path(__file__).parents[2] / "sample-repo"
DOMAIN = ".pool.example.org"
LONG = "gpu-testbed-rack-b12-unit-07-with-a-name-that-says-everything.physics.pool.example.org"
LONG_NODE = "groups: [GPU workers, Workers]\nfacts: {rack: B12, cores: 48, gpu_maker: nvidia}\n"
GROWN = {"exec": "exec[01-99]", "gpu": "gpu[01-24]", "bigmem": "bigmem[01-10]", "ondemand": "ondemand[01-30]"}
RACKS = f"nodes: rack[1-6]-[01-20]{DOMAIN}\ngroups: [Workers]\nlabels: [worker]\nfacts: {{rack: C1}}\n"
FIRST = "'\"canary\" in node.labels'"
RELEASE = f"release: {{stages: [1, 10%, 100%], settle: 0s, max_failures: 2, first: {FIRST}}}\n"
HOLD = f"nodes: gpu[01-03]{DOMAIN}\nreason: a run of two weeks\nuntil: 2099-12-31\ncommit: "
EVE = 'params:\n  START: {$and: Owner =!= "eve"}'
BODY = "Two GPU nodes lost their driver last week, and took jobs\nfor five minutes after it."
DIFF = """\
--- /etc/condor/config.d/50-gitcfg.config
+++ /etc/condor/config.d/50-gitcfg.config
@@ -12,3 +12,3 @@
 DAEMON_LIST = MASTER, STARTD
-START = (NodeHealthy =!= FALSE) && (Owner =!= "eve")
+START = TRUE
 SHARED_PORT_PORT = 9618
"""
OUTPUT = """\
condor_config_val: checking 50-gitcfg.config
ERROR: Configuration file /var/lib/gitcfg/staged/50-gitcfg.config, line 41:
  SLOT_TYPE_1 = 100%, gpus=auto
  is not a list of resources that this machine has
The old files are back, and startd runs with them.
"""
AUTHORS = ("Ada Lovelace <ada@example.org>", "Grace Hopper <grace@example.org>")
DRIFT = (
    {"path": "/etc/condor/config.d/50-gitcfg.config", "kind": "changed", "diff": DIFF},
    {"path": "/etc/motd", "kind": "missing", "diff": ""},
)
FACTS = {"os": "8.10", "kernel": "6.1.0-22-amd64", "cores": 64, "memory_gib": 256.0, "gpus": []}
AGENT = {"version": "0.7.0", "interval": 60}
AWAY = {f"ondemand0{number}{DOMAIN}" for number in range(1, 10)}
DRIFTED = tuple(f"exec{number}{DOMAIN}" for number in (21, 22))
NEVER = {f"rack6-{number}{DOMAIN}" for number in range(17, 20)}


class Commit(NamedTuple):
    """What somebody commits."""

    subject: str
    files: Mapping[str, str]
    author: str = AUTHORS[0]
    body: str = ""


class Fleet:
    """`commits` are in order; the last is in its second stage, where so many `failures` are: 3 halt it.

    `failed` are the nodes that have taken their old configuration back.
    """

    def __init__(self, place: Path, failures: int = 2) -> None:
        self.site = Site(place)
        self.failed: list[str] = []
        self._describe()
        self.nodes = {name: Node(name, "") for name in _names()}
        keys = "".join(f"{name} {node.public}\n" for name, node in self.nodes.items())
        settings = (SAMPLE / "gitcfg.yaml").read_text() + RELEASE
        files = {"keys/all.txt": keys, "gitcfg.yaml": settings}
        self.commits = [self._commit(Commit("A pool of six racks", files))]
        self._serve()
        self.server.accepted(self.commits[0])
        self.token = self.server.token("fleet", "read")
        self._live(failures)

    def _serve(self) -> None:
        self.server = Server(self.site)
        for node in self.nodes.values():
            node.server, node.server_key = self.server.url, self.server.key

    def _describe(self) -> None:
        """The sample, grown."""
        work = self.site.work
        shutil.copytree(SAMPLE, work, dirs_exist_ok=True)
        for name, nodes in GROWN.items():
            file = work / "nodesets" / f"{name}.yaml"
            file.write_text(f"nodes: {nodes}{DOMAIN}\n{file.read_text().partition(chr(10))[2]}")
        (work / "nodesets/racks.yaml").write_text(RACKS)
        (work / f"nodes/{LONG}.yaml").write_text(LONG_NODE)

    def _commit(self, said: Commit) -> str:
        for name, text in said.files.items():
            path = self.site.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run("git", "add", "-A", cwd=self.site.work)
        words = ("--author", said.author, "-m", f"{said.subject}\n\n{said.body}")
        run("git", "commit", "-q", *words, cwd=self.site.work)
        run("git", "push", "-q", "origin", "HEAD:main", cwd=self.site.work)
        return self.site.head()

    def push(self, said: Commit) -> None:
        """One commit more, which counts when this returns."""
        self.commits.append(self._commit(said))
        self.server.accepted(self.commits[-1])

    def _live(self, failures: int) -> None:
        self._obey()
        workers = self._read("groups/Workers.yaml").replace("params:", EVE)
        files = {"groups/Workers.yaml": workers}
        self.push(Commit("No jobs of eve on the workers", files, AUTHORS[1]))
        self._obey()
        files = {
            f"nodes/exec99{DOMAIN}.yaml": "state: retired\n",
            "holds/long-run.yaml": f"{HOLD}{self.commits[1]}\n",
            "nodesets/racks.yaml": RACKS.replace("[01-20]", "[01-19]"),
        }
        self.push(Commit("Retire exec99, take six nodes away", files))
        self._happen()
        health = self._read("features/htcondor/HealthCheck.yaml").replace("period: 300", "period: 120")
        motd = self._read("templates/motd.j2") + "Questions: pool-admins@example.org\n"
        files = {"features/htcondor/HealthCheck.yaml": health, "templates/motd.j2": motd}
        self.push(Commit("Look after nodes every two minutes", files, AUTHORS[1], BODY))
        until(lambda: 0 < len(self.offered()) < 5, seconds=60)
        self._take(self.offered(), 0)
        until(lambda: len(self.offered()) > 15, seconds=60)
        offered = self.offered()
        self._take(offered[: len(offered) * 2 // 3], failures)

    def _read(self, name: str) -> str:
        return (self.site.work / name).read_text()

    def offered(self) -> list[tuple[Node, Any]]:
        """Nodes that are to run the newest commit and do not, with what they are to run."""
        said = self.server.get("/v1/nodes", self.token).json()["nodes"]
        return [
            (self.nodes[one["node"]], one["wanted"])
            for one in said
            if (one["wanted"] or {}).get("commit") == self.commits[-1] and one["node"] not in NEVER | AWAY
            if (one["running"] or {}).get("commit") != self.commits[-1]
        ]

    def _obey(self) -> None:
        """Let all take what they are offered, until the release is through."""
        left = self.nodes.keys() - NEVER
        while left:
            offered = [(self.nodes[name], self._target(name)) for name in AWAY & left] + self.offered()
            offered = [(node, target) for node, target in offered if target["commit"] == self.commits[-1]]
            self._take(offered, 0)
            left -= {node.name for node, _ in offered}

    def _target(self, name: str) -> Any:
        return self.nodes[name].config().json()

    def _take(self, offered: Sequence[tuple[Node, Any]], failures: int) -> None:
        """Let nodes say that they run what they are offered, but for the last, which fail."""
        for number, (node, target) in enumerate(offered):
            runs = {"commit": target["commit"], "digest": target["digest"], "since": time.time()}
            result: dict[str, Any] = {"commit": target["commit"], "outcome": "ok", "seconds": 2.7}
            if number >= len(offered) - failures:
                runs = {"commit": self.commits[-3], "digest": "0" * 64, "since": time.time() - 86_400}
                result |= {"outcome": "reverted", "step": "validate", "output": OUTPUT}
                self.failed.append(node.name)
            assert node.checkin(running=runs, result=result, facts=FACTS, **AGENT).status == 200

    def _happen(self) -> None:
        """Strangers come, somebody changes files by hand, and some are silent for two hours."""
        for name in (f"newcomer{DOMAIN}", "laptop-of-somebody.example.com"):
            assert Node(name, self.server.url, self.server.key).config().status == 403
        for name in DRIFTED:
            runs = {**self._target(name), "since": time.time()}
            runs = {key: runs[key] for key in ("commit", "digest", "since")}
            said = {"drift": DRIFT, "facts": FACTS, "clock_offset": -3.25}
            assert self.nodes[name].checkin(running=runs, **said, **AGENT).status == 200
        self.server.stop()
        with closing(sqlite3.connect(self.site.bare / "gitcfg-server" / "state.db")) as state, state:
            state.execute("UPDATE nodes SET last = last - 7200 WHERE node LIKE 'ondemand0%'")
        self._serve()


def _names() -> list[str]:
    found = [f"{name}{DOMAIN}" for name in ("cm1", "cm2", "submit1", "submit2")]
    for nodes in (*GROWN.values(), "mpi[1-4]", "rack[1-6]-[01-20]"):
        found += expand(f"{nodes}{DOMAIN}", 1000)
    return [*found, LONG]
