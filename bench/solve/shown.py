"""The figures of solving as tables."""

from collections.abc import Iterator, Sequence
from statistics import median

from bench.measure import Record
from bench.report.table import Table

_HEAD = ("problem", "way", "CPU s", "x gitcfg", "wall s", "MiB", "runs", "answer")
_GOALS = {"10,000 nodes, two of each of 30 kinds a subnet": 2.0, "600 addresses in 20 subnets": 1.0}
_GOAL_HEAD = ("goal", "at most", "measured", "")


def tables(records: Sequence[Record]) -> tuple[Table, ...]:
    """Goals, and all figures."""
    own = {one.fleet: one.seconds for one in records if one.tool == "gitcfg"}
    return (
        Table("Solving: goals", _GOAL_HEAD, tuple(_goals(own))),
        Table("Solving: problems", _HEAD, tuple(_cells(one, own.get(one.fleet)) for one in records)),
    )


def _goals(own: dict[str, float | None]) -> Iterator[tuple[str, ...]]:
    for problem, most in _GOALS.items():
        seconds = own.get(problem)
        if seconds is not None:
            told = "reached" if seconds <= most else "not reached"
            yield f"CPU of the choice: {problem}", f"{most:g} s", f"{seconds:.3f}", told


def _cells(one: Record, base: float | None) -> tuple[str, ...]:
    if one.seconds is None:
        return one.fleet, one.tool, "-", "-", "-", "-", "0", one.note
    ratio = f"{one.seconds / base:.1f}" if base else "-"
    figures = f"{one.seconds:.3f}", ratio, f"{median(one.wall):.3f}", f"{median(one.rss):.0f}"
    return (one.fleet, one.tool, *figures, str(len(one.cpu)), one.note or one.right)
