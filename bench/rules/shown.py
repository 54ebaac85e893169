"""The figures of rules as tables: goals first, then solvers side by side, then gitcfg's commands."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from bench.measure import Record
from bench.report.table import Table
from bench.rules.problems import PLACEMENTS
from bench.rules.rows import ALONE, BARE, COLLECT, DECIDED, FEW, MANY, MORE, PLAIN, SOLVE
from bench.rules.solvers import GITCFG

_GOALS = ("goal (CPU)", "at most", "measured", "")
_HEAD = ("problem", "tool", "size", "CPU s", "x gitcfg", "wall s", "runs", "answer")
_COMMANDS = ("repository", "work", "CPU s", "wall s", "MiB", "runs", "note")


def tables(records: Sequence[Record]) -> tuple[Table, ...]:
    """What there is to be shown."""
    alone = [one for one in records if one.state == ALONE]
    others = [one for one in records if one.state != ALONE]
    least = {one.work: one.seconds for one in alone if one.tool == GITCFG}
    return (
        Table("Rules: goals", _GOALS, tuple(_goals(records))),
        Table("Rules: problems alone", _HEAD, tuple(_solver(one, least) for one in alone)),
        Table("Rules: commands", _COMMANDS, tuple(map(_command, others))),
    )


def _goals(records: Sequence[Record]) -> Iterator[tuple[str, ...]]:
    of = {(one.work, one.fleet): one.seconds for one in records if one.tool == GITCFG and one.cpu}
    by_work = {work: seconds for (work, fleet), seconds in of.items() if work != "check"}
    found = (
        ("case study: solve from nothing, whole process", 2.0, by_work.get(SOLVE)),
        ("case study: solve with one machine more", 0.5, by_work.get(MORE)),
        ("placements of 30 features, alone", 5.0, by_work.get(PLACEMENTS)),
        ("check of what was decided, over none", 0.3, _over(of, DECIDED, BARE)),
        ("$collect on all nodes, over a plain value", 0.2, _over(of, COLLECT, PLAIN)),
        ("check of as many rules on one rack, over none", 2.5, _over(of, MANY, FEW)),
    )
    for title, most, seconds in found:
        judged = "not measured" if seconds is None else "reached" if seconds <= most else "not reached"
        yield title, f"{most:g} s", "-" if seconds is None else f"{seconds:.2f}", judged


def _over(of: Mapping[tuple[str, str], float | None], one: str, other: str) -> float | None:
    more, less = of.get(("check", one)), of.get(("check", other))
    return None if more is None or less is None else more - less


def _solver(one: Record, least: Mapping[str, float | None]) -> tuple[str, ...]:
    if one.seconds is None:
        return one.work, one.tool, str(one.nodes), "-", "-", "-", "0", one.note
    base = least.get(one.work)
    ratio = f"{one.seconds / base:.1f}" if base else "-"
    figures = f"{one.seconds:.3f}", ratio, f"{median(one.wall):.3f}"
    return one.work, one.tool, str(one.nodes), *figures, str(len(one.cpu)), one.right


def _command(one: Record) -> tuple[str, ...]:
    if one.seconds is None:
        return one.fleet, one.work, "-", "-", "-", "0", one.note
    figures = f"{one.seconds:.2f}", f"{median(one.wall):.2f}", f"{max(one.rss):.0f}"
    return one.fleet, one.work, *figures, str(len(one.cpu)), one.note
