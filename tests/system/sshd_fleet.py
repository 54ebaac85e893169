"""A repository of nodes behind SSH, the settings that reach them, and deploys as processes of their own."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitcfg.rollout import plan_rollout
from tests.server.site import GITCFG, Site
from tests.system.node import CONFIG
from tests.system.sshd import Sshd, sshd, user
from tests.system.sshd_node import ROOT, FarNode, enter

PARAMS = {"LABEL": "zero", "MAX_JOBS": "10", "MEMORY": "1024"}
FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/all.yaml": """parameters:
  LABEL: {description: What these values are called., type: string}
  MAX_JOBS: {description: How many jobs at most., type: string}
  MEMORY: {description: How much memory., type: integer, restart: true}
""",
    "features/Pool.yaml": f"files:\n  {CONFIG}/50-params.config: {{template: params.j2}}\n",
    "templates/params.j2": "".join(f"{name} = {{{{ params.{name} }}}}\n" for name in PARAMS),
}
_SUBSYSTEM = """subsystems:
  poold-{name}:
    params: [LABEL, MAX_JOBS, MEMORY]
    files: ["{config}/**"]
    features: [at-{name}]
    validate: [{home}/poold, validate, "{{new}}"]
    reload: [{home}/poold, reload]
    restart: [{home}/poold, restart]
    stop: [{home}/poold, stop]
    check: {{run: [{home}/poold, check], timeout: 20s, retries: 1}}
"""
_SETTINGS = """Host {name}
  HostName {address}

"""
_FOR_ALL = """Host *
  Port {port}
  User {user}
  IdentityFile {key}
  IdentitiesOnly yes
  UserKnownHostsFile {known}
  HashKnownHosts no
  HashKnownHosts no
"""
SECONDS = 120


class Done:
    """How a deploy ended: its exit code, and what it said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def summary(self) -> dict[str, Any]:
        """What `-o json` has printed."""
        assert self.out, self.err
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What `-o jsonl` has printed."""
        return [json.loads(line) for line in self.out.splitlines()]


class FarFleet(Site):
    """Nodes `n1`, `n2`, ... at addresses of loopback; each has a subsystem, for its daemon."""

    def __init__(self, folder: Path, listening: Sshd, addresses: tuple[str, ...]) -> None:
        super().__init__(folder / "git")
        self.folder, self.sshd, self.home = folder, listening, folder / "home"
        self.program: tuple[str, ...] = GITCFG
        self.entering: tuple[str, ...] = ("--no-sudo",)
        """What every deploy says; nothing: whether it goes through sudo is left to it."""
        names = {f"n{number}": address for number, address in enumerate(addresses, 1)}
        self.nodes = {name: FarNode(folder, name, address) for name, address in names.items()}
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        (self.home / "tmp").mkdir()
        self.settings("")
        self.known({})
        self.first = self.change(self._described())

    def settings(self, more: str) -> None:
        """Write ~/.ssh/config: how each node is reached; `more` goes first, so that it counts."""
        hosts = "".join(_SETTINGS.format(name=one.name, address=one.address) for one in self.nodes.values())
        said = {"key": self.sshd.keys.user, "known": self.home / ".ssh/known_hosts", "user": user()}
        rest = _FOR_ALL.format(port=self.sshd.port, **said)
        (self.home / ".ssh/config").write_text(f"{more}{hosts}{rest}")

    def known(self, keys: Mapping[str, str | None]) -> None:
        """Write ~/.ssh/known_hosts: as it should be, but for these nodes (None: it is not there)."""
        lines = [keys.get(one.name, self.sshd.known(one.address)) for one in self.nodes.values()]
        (self.home / ".ssh/known_hosts").write_text("".join(line or "" for line in lines))

    def _described(self) -> dict[str, str]:
        said = {"config": CONFIG}
        files = dict(FILES)
        for node in self.nodes.values():
            files[f"subsystems/{node.name}.yaml"] = _SUBSYSTEM.format(
                name=node.name, home=node.daemon.home, **said
            )
            files[f"features/at-{node.name}.yaml"] = f"description: The daemon of {node.name}.\n"
            files[f"nodes/{node.name}.yaml"] = f"groups: [Workers]\nfeatures: [at-{node.name}]\n"
        return files

    def change(self, files: Mapping[str, str | None] | None = None, /, **params: str) -> str:
        """Push other values for all nodes; the commit."""
        said = "".join(f"  {name}: {value}\n" for name, value in {**PARAMS, **params}.items())
        return self.push({**(files or {}), "groups/Workers.yaml": f"features: [Pool]\nparams:\n{said}"})

    def own(self, name: str, **params: str) -> str:
        """Push other values for one node; the commit."""
        said = "".join(f"  {key}: {value}\n" for key, value in params.items())
        return self.push({f"nodes/{name}.yaml": f"groups: [Workers]\nfeatures: [at-{name}]\nparams:\n{said}"})

    @property
    def environment(self) -> dict[str, str]:
        """What somebody at this desk has."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "GITCFG_"))}
        own = {"HOME": str(self.home), "TMPDIR": str(self.home / "tmp"), "COLUMNS": "120"}
        return {**kept, **own, "GIT_CONFIG_GLOBAL": os.devnull}

    def line(self, *words: str) -> list[str]:
        """A deploy's words."""
        return [*self.program, "deploy", "--root", ROOT, "--yes", *self.entering, *words]

    def call(self, *words: str) -> Done:
        """Any command of gitcfg's, to its end."""
        return self._run([*GITCFG, *words])

    def deploy(self, *words: str, given: str = "") -> Done:
        """A deploy, to its end."""
        return self._run(self.line(*words), given)

    def _run(self, line: list[str], given: str = "") -> Done:
        more: dict[str, Any] = {"input": given, "capture_output": True, "text": True, "timeout": SECONDS}
        done = subprocess.run(line, cwd=self.work, env=self.environment, **more)
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """A deploy that goes on by itself; `over` waits for it."""
        pipe = subprocess.PIPE
        more: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, "text": True}
        line = ["/bin/sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", *self.line(*words)]
        return subprocess.Popen(line, cwd=self.work, env=self.environment, **more)

    def outcomes(self, done: Done) -> dict[str, str]:
        """What became of each node, from `-o json`; each node is named once."""
        found = [(one["node"], one["outcome"]) for one in done.summary["nodes"]]
        assert len(dict(found)) == len(found), found
        return dict(found)

    def over(self, process: "subprocess.Popen[str]") -> Done:
        """What came of a deploy that was started."""
        out, err = process.communicate(timeout=SECONDS)
        return Done(process.returncode, out, err)

    def holding(self, text: str) -> set[Path]:
        """All files of this world, of nodes too, that have a text."""
        raw = text.encode()
        files = (file for file in self.folder.rglob("*") if file.is_file() and not file.is_symlink())
        return {file for file in files if raw in file.read_bytes()}

    def order(self) -> tuple[str, ...]:
        """The order in which nodes get the last commit."""
        return plan_rollout(self.head(), sorted(self.nodes), None).order


@contextmanager
def far_fleet(folder: Path, count: int, within: Sequence[str] = ()) -> Iterator[FarFleet]:
    """So many nodes, from 127.0.0.2 on, and the sshds in front of them; `within` as for these."""
    addresses = tuple(f"127.0.0.{number}" for number in range(2, count + 2))
    with sshd(folder, addresses, enter(folder), within) as listening:
        yield FarFleet(folder, listening, addresses)
