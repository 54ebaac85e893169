"""A fleet that is ready to be measured: drawn, before and after the change, with folders for everything."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from bench.fleet import Fleet, changed, draw
from bench.fleet.commits import commit
from bench.fleet.lay import fingerprint
from bench.fleet.options import Options
from bench.measure import Command, Limits


class Prepared(msgspec.Struct, frozen=True):
    """`folder` is the fleet's own; `source` the folder with the gitcfg that is measured, run by `python`."""

    name: str
    fleet: Fleet
    after: Fleet
    mark: str
    folder: Path
    source: Path
    python: str
    limits: Limits = Limits()

    @property
    def repository(self) -> Path:
        """gitcfg's repository."""
        return self.folder / "gitcfg"

    @property
    def last(self) -> str:
        """The node of rows about one node; one that the change concerns, if there is any."""
        return next(reversed(self.fleet.nodes), "")

    def command(self, *argv: str, environment: Mapping[str, str] | None = None) -> Command:
        """A command that runs in the fleet's folder, with a home of its own."""
        home = self.folder / "home"
        home.mkdir(parents=True, exist_ok=True)
        known = {"HOME": str(home), **(environment or {})}
        return Command(argv=argv, folder=self.folder, out=self.folder / "out", environment=known)

    def gitcfg(self, *arguments: str) -> Command:
        """gitcfg on the fleet's repository."""
        return self.program("-C", str(self.repository), *arguments)

    def program(self, *arguments: str) -> Command:
        """gitcfg, without a repository."""
        argv = (self.python, "-P", "-m", "gitcfg", *arguments)
        return self.command(*argv, environment={"PYTHONPATH": str(self.source)})


def prepare(name: str, options: Options, work: Path, source: Path, python: str, limits: Limits) -> Prepared:
    """Draw a fleet and commit it."""
    fleet = draw(options)
    mark = fingerprint(options)
    ready = Prepared(name, fleet, changed(fleet), mark, work / "fleets" / name, source, python, limits)
    commit(ready.repository, fleet, mark)
    return ready
