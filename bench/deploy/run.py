"""One run: hosts are set up, the ways take turns, and each is looked at whether it has done its work."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec

from bench.deploy.hosts import Hosts, hosts
from bench.deploy.site import Repository, text
from bench.deploy.tools import FABRIC, FABRIC_PUT, GITCFG, PEERS, Task, Way, gitcfg
from bench.measure.process import Command, Limits, Usage, run
from bench.peers.environments import NotInstalled, environment
from bench.peers.peer import Tool

_ROOT = Path(__file__).parents[2]
CONSTRAINTS = Path(__file__).with_name("constraints.txt")
CHANGED, FIRST, SAME, DRY = "changed", "first", "unchanged", "dry run"


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """`counts` of hosts: all ways with the first one, gitcfg and fabric alone with the others.

    What uses more CPU seconds than `slow` runs once; nothing may take more than `seconds`.
    """

    counts: tuple[int, ...] = (200, 50, 600)
    jobs: int = 20
    runs: int = 3
    slow: float = 20.0
    seconds: float = 300.0
    only: tuple[str, ...] = ()


class Row(msgspec.Struct):
    """What a way has used, each time: CPU and wall seconds, MiB of its largest process; or what is wrong."""

    tool: str
    says: str
    state: str
    hosts: int
    cpu: list[float] = []
    wall: list[float] = []
    rss: list[float] = []
    right: int = 0
    note: str = ""

    @property
    def each(self) -> float | None:
        """CPU milliseconds a host."""
        return median(self.cpu) / self.hosts * 1000 if self.cpu else None


Say = Callable[[str], None]


def measured(size: Size, work: Path, say: Say) -> Iterator[Row]:
    """The rows, as they are done."""
    for number, count in enumerate(size.counts):
        say(f"{count} hosts")
        ways = [way for way in PEERS if not number or way.name in (FABRIC, FABRIC_PUT)]
        wanted = [way for way in ways if not size.only or way.name in size.only]
        with hosts(count) as made:
            yield from _Bench(made, size, work, say).rows(wanted)


class _Bench:
    def __init__(self, made: Hosts, size: Size, work: Path, say: Say) -> None:
        self._hosts, self._size, self._work, self._say = made, size, work, say
        self._repository = Repository(made)
        self._task = Task(made, size.jobs, made.folder / "text", made.folder / "task")
        self._task.folder.mkdir()
        self._count = 0

    def rows(self, ways: Sequence[Way]) -> list[Row]:
        """All of them; the ways take turns."""
        rows, tools = self._ready(ways)
        first = self._row(GITCFG, "the program is carried, too", FIRST)
        self._gitcfg(first, self._next())
        own = {state: self._row(GITCFG, "", state) for state in (CHANGED, SAME, DRY)}
        for _ in range(self._size.runs):
            for way in ways:
                if way.name in tools and not self._slow(rows[way.name]):
                    self._peer(rows[way.name], way, tools[way.name], self._next())
            said = self._next()
            self._gitcfg(own[DRY], None, "--dry-run")
            self._gitcfg(own[CHANGED], said)
            self._gitcfg(own[SAME], said)
        return [*rows.values(), first, *own.values()]

    def _slow(self, row: Row) -> bool:
        return bool(row.note) or any(cpu > self._size.slow for cpu in row.cpu)

    def _row(self, tool: str, says: str, state: str) -> Row:
        return Row(tool=tool, says=says, state=state, hosts=len(self._hosts.places))

    def _ready(self, ways: Sequence[Way]) -> tuple[dict[str, Row], dict[str, Tool]]:
        rows = {way.name: self._row(way.name, way.says, CHANGED) for way in ways}
        tools = {}
        for way in ways:
            try:
                if way.requirements:
                    tools[way.name] = environment(way, self._work / "environments", CONSTRAINTS)
                else:
                    tools[way.name] = Tool(Path(sys.executable))
            except NotInstalled as error:
                rows[way.name].note = str(error)
        return rows, tools

    def _next(self) -> str:
        """Another text for all hosts; what the file is to say then."""
        self._count += 1
        value = f"value-{self._count}"
        self._task.text.write_text(text(value))
        return self._repository.say(value)

    def _peer(self, row: Row, way: Way, tool: Tool, said: str) -> None:
        self._taken(row, way.command(tool, self._task), said, {0})

    def _gitcfg(self, row: Row, said: str | None, *words: str) -> None:
        self._taken(row, gitcfg(self._task, *words), said, {1} if "--dry-run" in words else {0})

    def _taken(self, row: Row, command: Sequence[str], said: str | None, well: set[int]) -> None:
        """Run it and add what it used; what is no good is said and not counted."""
        self._say(f"  {row.tool}, {row.state}")
        used = launched(command, self._task.folder, self._environment(), self._size.seconds)
        right = self._hosts.right(said) if said is not None else row.hosts
        if used.late or used.exit not in well or right != row.hosts:
            late = "too late, " if used.late else ""
            row.note = f"{late}exit {used.exit}, {right} of {row.hosts} right: {self._complaint()}"
            return
        row.right = right
        row.cpu.append(used.cpu)
        row.wall.append(used.wall)
        row.rss.append(used.rss)

    def _complaint(self) -> str:
        said = (self._task.folder / "stderr").read_text(errors="replace").strip().splitlines()
        return said[-1][:100] if said else ""

    def _environment(self) -> Mapping[str, str]:
        home = {"HOME": str(self._hosts.home), "GIT_CONFIG_GLOBAL": os.devnull}
        return {"PYTHONPATH": str(_ROOT), **home}


def launched(command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float) -> Usage:
    """What a command used, with everything that it left behind."""
    what = Command(argv=command, folder=folder, out=folder, environment=environment, orphans=True)
    return run(what, Limits(seconds))
