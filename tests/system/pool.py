"""The world: a repository with its hooks, a mirror of it, a server on each, one database, and nodes."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gitcfg.rollout import plan_rollout
from tests.ports import free_port
from tests.server.site import GITCFG, Server, Site, until
from tests.system.described import FILES, NAMES, PARAMS
from tests.system.node import Node
from tests.system.places import keyed, mirrored

PATIENCE = 60.0  # of who waits: all of it takes 5 s where nobody else wants the processors
_NOTHING: Mapping[str, str] = {}


class Pool(Site):
    """Half of the nodes ask the one server first, half the other."""

    def __init__(self, place: Path, nodes: Path, database: str) -> None:
        super().__init__(place)
        self.database, self._place = database, nodes
        self._ports = [free_port(), free_port()]
        self.urls = [f"http://127.0.0.1:{port}" for port in self._ports]
        self.nodes = {name: Node(nodes, name) for name in NAMES}
        self.servers: list[Server] = []
        self._repos = (self.bare, mirrored(self))
        self.key = keyed(self._repos)
        self.first = self.token = ""

    def serve_all(self) -> None:
        """Push the first commit, and let both servers serve it; no agent runs yet."""
        self.first = self.change(self._described())
        for number in range(2):
            self.serve(number)
        self.token = self.servers[0].token()
        for server in self.servers:
            server.accepted(self.first)

    def _described(self) -> dict[str, str]:
        """What the first commit says: the nodes, each with the key that its agent has made."""
        self.configure(self.nodes.values())
        lines = [node.call("key").stdout for node in self.nodes.values()]
        described = {f"nodes/{name}.yaml": "groups: [Workers]\n" for name in NAMES}
        return {**FILES, **described, "keys/all.txt": "".join(lines)}

    def configure(self, nodes: Iterable[Node], **more: str) -> None:
        """Tell agents of the servers."""
        for number, node in enumerate(nodes):
            node.configure(self.urls if number % 2 else self.urls[::-1], self.key, **more)

    def serve(self, number: int) -> Server:
        """Start a server, at the place where it always is."""
        words, repo = ("--database", self.database), self._repos[number]
        listen = f"127.0.0.1:{self._ports[number]}"
        server = Server(self, *words, name=f"server{number}", repo=repo, listen=listen)
        self.servers[number : number + 1] = [server]
        return server

    def node(self, name: str) -> Node:
        """A node that git does not know yet."""
        made = self.nodes[name] = Node(self._place, name)
        self.configure([made])
        return made

    def start(self) -> "Pool":
        """Start all agents, and wait until all daemons run."""
        for node in self.nodes.values():
            node.start()
        self.arrived(self.first)
        for node in self.nodes.values():
            node.daemon.verbs()
        return self

    def change(self, files: Mapping[str, str] = _NOTHING, /, **params: str) -> str:
        """Push other values for all workers; the commit."""
        said = "".join(f"  {name}: {value}\n" for name, value in {**PARAMS, **params}.items())
        group = f"features: [Pool]\nparams:\n{said}"
        return self.push({**files, "groups/Workers.yaml": group})

    def call(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run gitcfg in the clone."""
        return subprocess.run([*GITCFG, *words], cwd=self.work, capture_output=True, text=True, timeout=120)

    def ask(self, target: str) -> Any:
        """What the server answers that is there. One that has just come up may have accepted nothing yet."""
        server = next(server for server in self.servers if server.process.poll() is None)
        until(lambda: server.get("/readyz").status == 200, server.log, PATIENCE)
        answer = server.get(target, self.token)
        assert answer.status == 200, answer.body
        return answer.json()

    def release(self, commit: str) -> dict[str, Any]:
        """How far a commit has got; nothing: it has not begun."""
        found = self.ask("/v1/releases")["releases"]
        return next((dict(one) for one in found if one["commit"] == commit), {})

    def stands(self, commit: str, status: str) -> None:
        """Wait until a release stands so."""
        until(lambda: self.release(commit).get("status") == status, self.servers[0].log, PATIENCE)

    def arrived(self, commit: str, *names: str) -> None:
        """Wait until nodes have said that they run a commit, and the release is at its end."""
        wanted = set(names or self.nodes)

        def there() -> bool:
            nodes = {one["node"]: one for one in self.ask("/v1/nodes")["nodes"]}
            return all((nodes[name].get("running") or {}).get("commit") == commit for name in wanted)

        until(there, self.nodes[min(wanted)].log, PATIENCE)
        if not names:
            self.stands(commit, "done")

    def order(self, commit: str) -> list[Node]:
        """The nodes in the order in which they get a commit."""
        return [self.nodes[name] for name in plan_rollout(commit, NAMES, None).order]

    def askers(self, number: int) -> set[str]:
        """The nodes that a server has taken check-ins of."""
        lines = map(json.loads, self.servers[number].log.read_text().split("\n")[:-1])
        paths = [str(line.get("path", "")) for line in lines if line.get("status") == 200]
        return {path.split("/")[3] for path in paths if path.endswith("/checkin")}

    def close(self) -> None:
        """End everything."""
        for node in self.nodes.values():
            node.close()
        for server in self.servers:
            server.process.kill()
            server.stop()
