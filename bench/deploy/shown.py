"""The figures of deploys as tables."""

from collections.abc import Iterator, Sequence
from statistics import median

from bench.deploy.run import CHANGED, Row
from bench.deploy.tools import FABRIC, FABRIC_PUT, GITCFG
from bench.report.table import Table

GOAL = 1.3
_HEAD = ("tool", "how", "state", "hosts", "CPU ms a host", "x fabric", "wall s", "MiB", "runs", "note")
_GOAL_HEAD = ("goal", "at most", "measured", "")


def tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """What there is to be shown: ratios are taken among the rows of as many hosts, which took turns."""
    parts = [Table("Deploys: goals", _GOAL_HEAD, tuple(_goals(rows)))]
    for count in dict.fromkeys(row.hosts for row in rows):
        own = [row for row in rows if row.hosts == count]
        base = next((row.each for row in own if row.tool == FABRIC), None)
        found = sorted(own, key=lambda row: (row.tool == GITCFG, not row.each, row.each or 0))
        title = f"Deploys: {count} hosts"
        parts.append(Table(title, _HEAD, tuple(_cells(row, base) for row in found)))
    return tuple(table for table in parts if table.rows)


def _cells(row: Row, base: float | None) -> tuple[str, ...]:
    first = (row.tool, row.says or "-", row.state, str(row.hosts))
    if row.each is None:
        return (*first, "-", "-", "-", "-", "0", row.note)
    ratio = f"{row.each / base:.2f}" if base else "-"
    wall, rss = f"{median(row.wall):.1f}", f"{max(row.rss):.0f}"
    return (*first, f"{row.each:.1f}", ratio, wall, rss, str(len(row.cpu)), row.note)


def _goals(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    for count in dict.fromkeys(row.hosts for row in rows):
        each = {row.tool: row.each for row in rows if row.hosts == count and row.state == CHANGED}
        own, what = each.get(GITCFG), f"CPU of gitcfg deploy, one file changed, {count} hosts"
        if own and (base := each.get(FABRIC_PUT)):  # the same transfer and command
            yield what, f"{GOAL} x {FABRIC_PUT}", f"{own / base:.2f}", _judged(own <= GOAL * base)
        if own and (base := each.get(FABRIC)):
            yield what, f"- ({FABRIC})", f"{own / base:.2f}", "the least that can be asked of it"
    sizes = {
        row.hosts: max(row.rss) for row in rows if (row.tool, row.state) == (GITCFG, CHANGED) and row.rss
    }
    if len(sizes) > 1:
        least, most = min(sizes), max(sizes)
        grown = (sizes[most] - sizes[least]) * 1024 / (most - least)
        told = f"{grown:.0f} KiB a host more, from {least} to {most}"
        yield "memory of gitcfg deploy", "64 KiB a host", told, _judged(grown <= 64)


def _judged(well: bool) -> str:
    return "reached" if well else "not reached"
