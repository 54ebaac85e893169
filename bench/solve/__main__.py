"""`python -m bench.solve`: gitcfg's choices beside CP-SAT on the whole problem, and clingo; a few minutes."""

import argparse
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import msgspec

from bench.measure import Command, Limits, Row, Turns, take_turns
from bench.report import keep_solving, of_solving, put, text
from bench.report.machine import gitcfg_version, machine
from bench.solve.problems import PROBLEMS
from bench.solve.shown import tables
from bench.solve.ways import WAYS

ROOT = Path(__file__).parents[2]


class _Answer(msgspec.Struct):
    changes: int
    count: int


def options(arguments: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.solve", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="medians of so many")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a run may take")
    parser.add_argument("--only", default="", help=f"only these, separated by semicolons: {'; '.join(WAYS)}")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.work", help="where figures are kept")
    parser.add_argument(
        "--report", type=Path, help="put what was measured into the page of results there, too"
    )
    parser.add_argument("--date", default="", help="the day to name in it")
    return parser.parse_args(arguments)


def rows(folder: Path, only: tuple[str, ...]) -> Iterator[Row]:
    """Each problem in each way."""
    for problem in PROBLEMS:
        for way in WAYS:
            if not only or way in only:
                argv = [sys.executable, "-m", "bench.solve.child", way, problem]
                command = Command(argv=argv, folder=ROOT, out=folder, environment={"PYTHONPATH": str(ROOT)})
                yield Row(fleet=problem, tool=way, work="solve", command=command, judge=_told, inner=True)


def _told(printed: Path) -> str:
    found = msgspec.json.decode(printed.read_bytes(), type=_Answer)
    return f"{found.count}, {found.changes} changed"


def main() -> None:
    """Measure, print, keep."""
    given = options(sys.argv[1:])
    wanted = rows(given.work.resolve() / "solve", tuple(filter(None, given.only.split(";"))))
    turns = Turns(runs=given.runs, slow=30, limits=Limits(given.limit))
    found = take_turns(list(wanted), turns, lambda said: print(said, file=sys.stderr, flush=True))
    made = tables(found)
    for table in made:
        print(text(table), flush=True)
    tools = ", ".join(f"{name} {version(name)}" for name in ("ortools", "clingo"))
    said = f"{gitcfg_version(ROOT)}; {tools}"
    results = keep_solving(made, said, machine(), given.work / "results.json")
    if given.report:
        put(of_solving(results, given.date), given.report)


if __name__ == "__main__":
    main()
