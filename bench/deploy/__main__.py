"""`python -m bench.deploy`: gitcfg deploy beside ssh, asyncssh, fabric, ansible and pyinfra, on loopback.

About ten minutes; `--counts 20 --runs 1` for a quick look.
"""

import argparse
import sys
from pathlib import Path

from bench.deploy.run import CONSTRAINTS, Size, measured
from bench.deploy.shown import tables
from bench.deploy.tools import PEERS
from bench.peers.environments import versions
from bench.report import keep_deploys, of_deploys, put, text
from bench.report.machine import gitcfg_version, machine
from tests.system.sshd import PROGRAM

ROOT = Path(__file__).parents[2]


def options(arguments: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.deploy", description=__doc__)
    size = Size()
    names = ", ".join(way.name for way in PEERS)
    parser.add_argument("--counts", default=",".join(map(str, size.counts)), help="hosts: all ways first")
    parser.add_argument("--jobs", type=int, default=size.jobs, help="hosts at once")
    parser.add_argument("--runs", type=int, default=size.runs, help="medians of so many")
    parser.add_argument("--limit", type=float, default=size.seconds, help="seconds that a run may take")
    parser.add_argument("--only", default="", help=f"only these, separated by semicolons: {names}")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.work", help="where figures are kept")
    parser.add_argument(
        "--report", type=Path, help="put what was measured into the page of results there, too"
    )
    parser.add_argument("--date", default="", help="the day to name in it")
    return parser.parse_args(arguments)


def sized(given: argparse.Namespace) -> Size:
    """The size of the run that is asked for."""
    return Size(
        counts=tuple(map(int, given.counts.split(","))),
        jobs=given.jobs,
        runs=given.runs,
        seconds=given.limit,
        only=tuple(filter(None, given.only.split(";"))),
    )


def tell(said: str) -> None:
    """What is being done."""
    print(said, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, print, keep."""
    given = options(sys.argv[1:])
    if PROGRAM is None:
        sys.exit("There is no sshd here: the package openssh-server has it.")
    rows = list(measured(sized(given), given.work.resolve(), tell))
    made = tables(rows)
    for table in made:
        print(text(table), flush=True)
    version = "; ".join(
        (gitcfg_version(ROOT), *(versions(way, CONSTRAINTS) for way in PEERS if way.requirements))
    )
    results = keep_deploys(made, version, machine(), given.work / "results.json")
    if given.report:
        put(of_deploys(results, given.date), given.report)


if __name__ == "__main__":
    main()
