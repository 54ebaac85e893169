"""The ways that are compared: what to install for each, the files it needs, and its command."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from bench.deploy.hosts import Hosts
from bench.peers.peer import Tool as Installed
from tests.system.sshd import user
from tests.system.sshd_node import ROOT

RUNNERS = Path(__file__).parent / "runners"
GITCFG, FABRIC, FABRIC_PUT = "gitcfg deploy", "fabric, one command", "fabric, put and run"


class Task(msgspec.Struct, frozen=True):
    """What is done: this text becomes each host's file, at so many hosts at once. `folder` is its own."""

    hosts: Hosts
    jobs: int
    text: Path
    folder: Path

    def json(self) -> Path:
        """The same for scripts."""
        made = self.hosts
        said = {
            "hosts": [{"address": one, "path": str(made.target(one))} for one in made.places],
            "user": user(),
            "port": made.listening.port,
            "key": str(made.listening.keys.user),
            "known": str(made.known),
            "text": str(self.text),
            "jobs": self.jobs,
        }
        place = self.folder / "task.json"
        place.write_bytes(msgspec.json.encode(said))
        return place


class Way(msgspec.Struct, frozen=True):
    """A tool, and how it is used. `requirements` are installed in an environment of its own; none: ours."""

    name: str
    says: str
    command: Callable[[Installed, Task], Sequence[str]]
    requirements: tuple[str, ...] = ()


def _script(name: str, *words: str) -> Callable[[Installed, Task], Sequence[str]]:
    return lambda tool, task: [str(tool.python), str(RUNNERS / name), *words, str(task.json())]


def _ssh(tool: Installed, task: Task) -> Sequence[str]:
    lines = task.folder / "hosts"
    lines.write_text("".join(f"{one} {task.hosts.target(one)}\n" for one in task.hosts.places))
    words = (RUNNERS / "ssh_run.sh", task.hosts.settings, task.jobs, task.text)
    return ["/bin/sh", "-c", 'exec /bin/sh "$@" < "$0"', str(lines), *map(str, words)]


def _ansible(tool: Installed, task: Task) -> Sequence[str]:
    made = task.hosts
    lines = [f"{one} target={made.target(one)}\n" for one in made.places]
    (task.folder / "inventory").write_text("".join(lines))
    arguments = f"-C -o ControlMaster=auto -o ControlPersist=60s -F {made.settings}"
    (task.folder / "ansible.cfg").write_text(
        f"[defaults]\nforks = {task.jobs}\ninventory = inventory\nstdout_callback = minimal\n"
        f"gathering = explicit\ninterpreter_python = /usr/bin/python3\n"
        f"[ssh_connection]\npipelining = True\nssh_args = {arguments}\n"
    )
    copied = f"copy: {{src: {task.text}, dest: '{{{{ target }}}}'}}"
    (task.folder / "play.yml").write_text(
        f"- hosts: all\n  strategy: free\n  tasks:\n  - {copied}\n  - command: /bin/true\n"
    )
    return [tool.program("ansible-playbook"), "play.yml"]


def _pyinfra(tool: Installed, task: Task) -> Sequence[str]:
    made = task.hosts
    said = {
        "ssh_port": made.listening.port,
        "ssh_user": user(),
        "ssh_key": str(made.listening.keys.user),
        "ssh_known_hosts_file": str(made.known),
        "ssh_strict_host_key_checking": "yes",
    }
    found = [(one, {**said, "target": str(made.target(one))}) for one in made.places]
    (task.folder / "inventory.py").write_text(f"hosts = {found!r}\n")
    (task.folder / "put.py").write_text(
        "from pyinfra import host\nfrom pyinfra.operations import files, server\n"
        f"files.put(src={str(task.text)!r}, dest=host.data.target)\nserver.shell(commands=['/bin/true'])\n"
    )
    return [tool.program("pyinfra"), "-y", "--parallel", str(task.jobs), "inventory.py", "put.py"]


def gitcfg(task: Task, *words: str) -> Sequence[str]:
    """The command, in the repository's folder."""
    said = ("--root", ROOT, "--no-sudo", "--yes", "--jobs", str(task.jobs), "-o", "json", *words)
    return [sys.executable, "-m", "gitcfg", "-C", str(task.hosts.folder / "git/work"), "deploy", *said]


PEERS = (
    Way("ssh", "a process a host (xargs -P): cat into the file, then the command", _ssh),
    Way("asyncssh", "script: SFTP, then the command", _script("asyncssh_run.py"), ("asyncssh",)),
    Way(FABRIC, "script: threads; one command that reads the file", _script("fabric_run.py", "pipe")),
    Way(FABRIC_PUT, "script: threads; put, then run", _script("fabric_run.py", "put")),
    Way("ansible", "playbook of copy and command, free, pipelining", _ansible, ("ansible-core",)),
    Way("pyinfra", "files.put and server.shell", _pyinfra, ("pyinfra",)),
)
