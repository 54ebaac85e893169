"""The repository that says what the hosts get: one file each, whose daemon is told to reload."""

from pathlib import Path

from bench.deploy.hosts import FILE, Hosts
from tests.server.site import Site

_LINES = 100


def text(value: str) -> str:
    """The file, about 4 KiB."""
    return "".join(f"POOL_SETTING_{number:03} = {value} and more\n" for number in range(_LINES))


class Repository(Site):
    """A node is called as its host's address."""

    def __init__(self, hosts: Hosts) -> None:
        super().__init__(hosts.folder / "git")
        self.push(
            {
                "gitcfg.yaml": "format: 1\n",
                "parameters/all.yaml": "parameters:\n  VALUE: {description: A value., type: string}\n",
                "subsystems/pool.yaml": "subsystems:\n  pool:\n    params: [VALUE]\n"
                f"    files: [{FILE}]\n    reload: [/bin/true]\n",
                "templates/pool.j2": text("{{ params.VALUE }}"),
                **{f"nodes/{address}.yaml": "groups: []\n" for address in hosts.places},
            }
        )

    def say(self, value: str) -> str:
        """Push another value for all; what the file then says."""
        files = f"files:\n  {FILE}: {{template: pool.j2}}\n"
        self.push({"groups/default.yaml": f"params: {{VALUE: {value}}}\n{files}"})
        return text(value)

    @property
    def folder(self) -> Path:
        """Where one works."""
        return self.work
