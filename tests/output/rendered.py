"""A bare repository whose versions are rendered to a ref, and what stands there then."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gitcfg.cache import Cache, NoCache
from gitcfg.git.repository import Repository
from gitcfg.library import Fleet
from gitcfg.model import Finding, Severity
from gitcfg.output.branch import Publisher, PublishOutcome, PublishRequest
from gitcfg.output.folder import Scope, Stale, UpdateRequest, update_folder
from gitcfg.output.source import Ingredients, open_fleet_source
from tests.compile.fleets import TODAY
from tests.history.histories import Version, imported

REF = "refs/heads/rendered"
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Nobody",
    "GIT_AUTHOR_EMAIL": "nobody@example.com",
    "GIT_COMMITTER_NAME": "Server",
    "GIT_COMMITTER_EMAIL": "server@example.com",
}
Shown = dict[str, tuple[str, str]]
"""What stands at a ref: mode and content by path."""


class Pool:
    """Versions of a repository, one after another."""

    def __init__(self, place: Path, files: Sequence[Mapping[str, str]], cache: Cache | None = None) -> None:
        versions = [Version([n - 1] if n else [], dict(said)) for n, said in enumerate(files)]
        self.place = place / "r.git"
        self.commits = imported(self.place, versions)
        self.repository = Repository.open(self.place)
        self.cache = cache or NoCache()

    def git(self, *words: str) -> str:
        """What git says. CalledProcessError: it fails."""
        call = ["git", f"--git-dir={self.place}", *words]
        done = subprocess.run(call, check=True, capture_output=True, env=ENVIRONMENT)
        return done.stdout.decode().strip()

    def publisher(self, ref: str = REF, environment: Mapping[str, str] = ENVIRONMENT) -> Publisher:
        """What writes the ref."""
        return Publisher(self.repository, environment, ref, self.cache, TODAY)

    def fleet(self, number: int) -> Fleet:
        """A version."""
        tree = self.repository.at(self.commits[number])
        return Fleet(tree, self.repository.before(tree), TODAY, self.cache)

    def publish(self, number: int, publisher: Publisher | None = None) -> PublishOutcome:
        """Render all nodes of a version."""
        with self.fleet(number) as fleet:
            wanted = PublishRequest(tuple(fleet), Scope.ALL, errors(fleet))
            return (publisher or self.publisher()).publish(fleet, wanted)

    def tip(self, ref: str = REF) -> str:
        """The commit at the ref."""
        return self.git("rev-parse", ref)

    def shown(self, ref: str = REF) -> Shown:
        """What stands there."""
        found = {}
        for line in filter(None, self.git("ls-tree", "-r", "-z", ref).split("\0")):
            (mode, _, id), path = line.split("\t")[0].split(), line.split("\t")[1]
            found[path] = (mode, id)
        return found

    def folder(self, number: int, place: Path) -> Shown:
        """What a new folder holds that the version is rendered to, as git would have it."""
        with self.fleet(number) as fleet:
            request = UpdateRequest(place, tuple(fleet), Scope.ALL, Stale.REMOVE, 1)
            ingredients = Ingredients(fleet.compiled)
            update_folder(request, lambda: open_fleet_source(fleet.compiled, ingredients))
        files = [
            path for path in place.rglob("*") if path.is_file() and place / ".gitcfg" not in path.parents
        ]
        words = ["git", "hash-object", "--no-filters", "--stdin-paths"]
        said = "".join(f"{path}\n" for path in files).encode()
        ids = subprocess.run(words, input=said, check=True, capture_output=True).stdout.decode().split()
        modes = ("100755" if path.stat().st_mode & 0o111 else "100644" for path in files)
        names = (path.relative_to(place).as_posix() for path in files)
        return dict(zip(names, zip(modes, ids, strict=True), strict=True))


def errors(fleet: Fleet) -> tuple[Finding, ...]:
    """The errors of a fleet."""
    return tuple(found for found in fleet.findings if found.severity is Severity.ERROR)


def simple(**groups: str) -> dict[str, str]:
    """Nodes a1 and a2 in group a, b1 in b, each with a file of its group's text."""
    said = {"a": "one", "b": "one", **groups}
    files = {
        f"groups/{name}.yaml": f"files: {{/etc/motd: {{text: {text}}}}}\n" for name, text in said.items()
    }
    nodes = {"nodes/a1.yaml": "a", "nodes/a2.yaml": "a", "nodes/b1.yaml": "b"}
    return {
        "gitcfg.yaml": "format: 1\n",
        **files,
        **{path: f"groups: [{group}]\n" for path, group in nodes.items()},
    }
