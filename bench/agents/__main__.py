"""`python -m bench.agents`: 8,000 simulated agents against one real server, with SQLite and PostgreSQL.

Five minutes; `--nodes 200 --seconds 10 --interval 5 --flat 1` for a quick look.
"""

import argparse
import asyncio
import resource
import sys
import tempfile
from pathlib import Path

import uvloop

from bench.agents.figures import Figures
from bench.agents.run import Run, Size
from bench.agents.shown import tables
from bench.report import keep_agents, of_agents, put, text
from bench.report.machine import gitcfg_version, machine

ROOT = Path(__file__).parents[2]


def options(arguments: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.agents", description=__doc__)
    size = Size()
    parser.add_argument("--nodes", type=int, default=size.nodes)
    parser.add_argument("--interval", type=float, default=size.interval, help="seconds between check-ins")
    parser.add_argument(
        "--seconds", type=float, default=size.seconds, help="how long a steady fleet is measured"
    )
    parser.add_argument("--flat", type=float, default=size.flat, help="seconds of requests without a pause")
    parser.add_argument("--rounds", type=int, default=size.rounds, help="commits for every node")
    parser.add_argument("--fleet", default=size.fleet, help="the shape of the fleet (python -m bench --help)")
    parser.add_argument("--databases", default=",".join(size.databases), help="these, with commas")
    parser.add_argument("--limit", type=float, default=480, help="seconds after which it is given up")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.work", help="where figures are kept")
    parser.add_argument(
        "--report", type=Path, help="put what was measured into the page of results there, too"
    )
    parser.add_argument("--date", default="", help="the day to name in it")
    return parser.parse_args(arguments)


def sized(given: argparse.Namespace) -> Size:
    """The size of the run that is asked for."""
    return Size(
        fleet=given.fleet,
        nodes=given.nodes,
        interval=given.interval,
        seconds=given.seconds,
        flat=given.flat,
        rounds=given.rounds,
        databases=tuple(given.databases.split(",")),
    )


def room(nodes: int) -> None:
    """A socket for each agent, here and in the server, which inherits this. ValueError: that is too many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, nodes * 2 + 1000)), hard))


async def measured(size: Size, limit: float) -> Figures:
    """Figures of a run; of one that took too long, those that there are by then."""
    with tempfile.TemporaryDirectory(prefix="gitcfg-bench-") as home:
        run = Run(size, Path(home), lambda said: print(f"... {said}", file=sys.stderr))
        try:
            async with asyncio.timeout(limit):
                await run.all()
        except TimeoutError:
            run.figures.skipped.append(f"what comes after {limit:.0f} s: the run was given up")
        return run.figures


def main() -> None:
    """Measure, print, keep."""
    given = options(sys.argv[1:])
    room(given.nodes)
    made = tables(uvloop.run(measured(sized(given), given.limit)))
    for table in made:
        print(text(table), flush=True)
    results = keep_agents(made, gitcfg_version(ROOT), machine(), given.work / "results.json")
    if given.report:
        put(of_agents(results, given.date), given.report)


if __name__ == "__main__":
    main()
