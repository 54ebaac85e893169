"""`python -m bench`: measures gitcfg beside other tools, prints the tables, and keeps the figures."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.fleet import FLEETS
from bench.measure import Limits, Turns
from bench.report import Results, document, keep, read, tables, text
from bench.report.machine import machine
from bench.session import FLOOR, GITCFG, TOOLS, YARDSTICK, Session, measure

ROOT = Path(__file__).parents[1]
_OWN = (YARDSTICK, GITCFG, FLOOR)
QUICK: Mapping[str, Sequence[str]] = {
    "one": (GITCFG,),
    "small": TOOLS,
    "large-1000": TOOLS,
    "stress": (*_OWN, "rjsonnet", "nornir"),
    "large": _OWN,
    "own": _OWN,
}
FULL: Mapping[str, Sequence[str]] = {
    "one": (GITCFG,),
    "small": TOOLS,
    "large-1000": TOOLS,
    "stress": TOOLS,
    "large": TOOLS,
    "own": TOOLS,
    "huge": (GITCFG,),
    "sets": (GITCFG,),
}


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--full", action="store_true", help="all fleets and tools: takes an hour")
    parser.add_argument("--fleets", help=f"only these, with commas: {', '.join(FLEETS)}")
    parser.add_argument(
        "--only", help=f"only these tools, with commas: {', '.join(TOOLS)}; the others' rows stay"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="medians of so many (default 3); 0: only the page"
    )
    parser.add_argument(
        "--slow", type=float, default=10, help="more CPU seconds than this run once (default 10)"
    )
    parser.add_argument("--limit", type=float, default=600, help="seconds that a run may take (default 600)")
    parser.add_argument("--work", type=Path, default=ROOT / "bench/.work", help="folder for everything made")
    parser.add_argument("--source", type=Path, default=ROOT, help="folder with the gitcfg to measure")
    parser.add_argument("--report", type=Path, help="write the page of results there, too")
    parser.add_argument("--date", default="", help="the day to name in it")
    return parser.parse_args(arguments)


def asked(given: argparse.Namespace) -> dict[str, list[str]]:
    """Tools by fleet. The yardstick is always measured, since ratios are taken within one session."""
    plan = FULL if given.full or given.fleets else QUICK
    fleets = given.fleets.split(",") if given.fleets else list(plan)
    only = given.only.split(",") if given.only else list(TOOLS)
    unknown = [name for name in only if name not in TOOLS] + [name for name in fleets if name not in plan]
    if unknown:
        sys.exit(f"There is no {unknown[0]}.")
    return {name: [tool for tool in plan[name] if tool in (*only, YARDSTICK)] for name in fleets}


def main() -> None:
    """Measure, print, keep."""
    given = options(sys.argv[1:])
    path = given.work / "results.json"
    results = read(path)
    turns = Turns(given.runs, given.slow, Limits(given.limit))
    session = Session(asked(given), turns, given.work.resolve(), given.source.resolve())
    for records in measure(session) if given.runs else ():
        results = keep(records, machine(), path)
        for table in tables(results.records, dict.fromkeys(one.fleet for one in records)):
            print(text(table), flush=True)
    _report(results, given)


def _report(results: Results, given: argparse.Namespace) -> None:
    for place in (given.work / "RESULTS.md", given.report):
        if place:
            place.write_text(document(results, given.date), encoding="utf-8")


if __name__ == "__main__":
    main()
