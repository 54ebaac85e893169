"""What is measured of rules: solvers at problems alone, and gitcfg on repositories."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from bench.measure import Command, Row
from bench.rules import fleets
from bench.rules.one import Told
from bench.rules.problems import PLACEMENTS, PROBLEMS
from bench.rules.solvers import SOLVERS
from bench.rules.study import one_more, study

ROOT = Path(__file__).parents[2]
ALONE = "alone"
SOLVE, MORE = "solve from nothing", "solve, one machine more"
STUDY, DECIDED, BARE, COLLECT, PLAIN = "case study", "decided", "without rules", "collecting", "plain"
MANY, FEW = "many rules", "one rack"


def rows(nodes: int, machines: int, work: Path) -> Iterator[Row]:
    """All of them, those that are compared beside each other."""
    for problem in PROBLEMS:
        for tool in SOLVERS:
            yield _alone(tool, problem, nodes if problem.startswith(PLACEMENTS) else machines, work)
    made = _Repositories(work)
    files = study(machines)
    yield made.row(STUDY, files, SOLVE, "solve")
    yield made.row(f"{STUDY}, one more", files, MORE, "solve", one_more(files))
    fleet = {
        DECIDED: fleets.decided,
        BARE: fleets.bare,
        COLLECT: fleets.collecting,
        PLAIN: fleets.plain,
    }
    for name, made_up in fleet.items():
        yield made.row(name, made_up(nodes), "check", "check --no-parsers")
    for name, rules in ((MANY, nodes), (FEW, 0)):
        yield made.row(name, fleets.many(rules), "check", "check --no-parsers")


def _alone(tool: str, problem: str, size: int, work: Path) -> Row:
    argv = (sys.executable, "-m", "bench.rules.one", tool, problem, str(size))
    command = Command(argv=argv, folder=ROOT, out=work / "out", environment={"PYTHONPATH": str(ROOT)})
    return Row(
        fleet=problem,
        tool=tool,
        work=problem,
        state=ALONE,
        nodes=size,
        command=command,
        judge=_judge,
        inner=True,
    )


def _judge(printed: Path) -> str:
    found = msgspec.json.decode(printed.read_bytes(), type=Told)
    if not found.right:
        raise ValueError("not all holds that was asked for")
    return f"{found.count}, {found.changes} changed"


class _Repositories:
    def __init__(self, work: Path) -> None:
        self._work = work

    def row(
        self,
        name: str,
        files: Mapping[str, str],
        work: str,
        words: str,
        later: Mapping[str, str] | None = None,
    ) -> Row:
        """A command on a repository; with `later` it has been solved before it became that."""
        folder = self._work / name.replace(" ", "-").replace(",", "")
        argv = (sys.executable, "-P", "-m", "gitcfg", "-C", str(folder), *words.split())
        known = {"PYTHONPATH": str(ROOT), "HOME": str(self._work)}
        command = Command(argv=argv, folder=self._work, out=self._work / "out", environment=known)
        before = self._before(folder, files, later, command)
        return Row(fleet=name, tool="gitcfg", work=work, command=command, before=before)

    def _before(
        self, folder: Path, files: Mapping[str, str], later: Mapping[str, str] | None, command: Command
    ) -> Callable[[], None]:
        def made() -> None:
            shutil.rmtree(folder, ignore_errors=True)
            write(folder, files)
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
            if later is not None:
                subprocess.run(
                    command.argv, env=dict(command.environment), check=True, stdout=subprocess.DEVNULL
                )
                write(folder, later)

        return made


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Put files into a folder."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
