"""`python -m bench.rules`: what rules across nodes cost, beside CP-SAT and clingo.

About five minutes; `--nodes 500 --machines 200 --runs 1` for a quick look.
"""

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

from bench.measure import Limits, Turns, take_turns
from bench.report import keep_rules, of_rules, put, text
from bench.report.machine import gitcfg_version, machine
from bench.rules.rows import ROOT, rows
from bench.rules.shown import tables


def options(arguments: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.rules", description=__doc__)
    parser.add_argument("--nodes", type=int, default=10_000, help="of the large fleets")
    parser.add_argument("--machines", type=int, default=600, help="of the case study")
    parser.add_argument("--runs", type=int, default=3, help="medians of so many")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a run may take")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.work", help="where figures are kept")
    parser.add_argument(
        "--report", type=Path, help="put what was measured into the page of results there, too"
    )
    parser.add_argument("--date", default="", help="the day to name in it")
    return parser.parse_args(arguments)


def tell(said: str) -> None:
    """What is being done."""
    print(said, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, print, keep."""
    given = options(sys.argv[1:])
    work = given.work.resolve()
    measured = rows(given.nodes, given.machines, work / "rules")
    turns = Turns(runs=given.runs, slow=5, limits=Limits(given.limit))
    made = tables(take_turns(list(measured), turns, tell))
    for table in made:
        print(text(table), flush=True)
    tools = "; ".join(f"{name} {version(name)}" for name in ("ortools", "clingo"))
    results = keep_rules(made, f"{gitcfg_version(ROOT)}; {tools}", machine(), work / "results.json")
    if given.report:
        put(of_rules(results, given.date), given.report)


if __name__ == "__main__":
    main()
