"""Tables of medians: one a fleet, and one of what concerns one node."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

import msgspec

from bench.fleet import FLEETS
from bench.measure import Record
from bench.rows.tools import ALL, ONE

_HEAD = ("tool", "work", "state", "CPU s", "x yardstick", "wall s", "nodes/s", "MiB", "runs", "right")
_HEAD_ONE = ("tool", "work", "state", "CPU ms", "over a fleet of one", "wall ms", "MiB", "runs", "right")


class Table(msgspec.Struct, frozen=True):
    """A title and cells as text."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(records: Sequence[Record], fleets: Iterable[str] = FLEETS) -> Iterator[Table]:
    """Tables of these fleets; in each, rows about all nodes from the least CPU up."""
    least = {(one.work, one.state): one for one in records if one.fleet == "one" and one.cpu}
    for fleet in fleets:
        own = [one for one in records if one.fleet == fleet]
        whole = sorted((one for one in own if not one.work.startswith(ONE)), key=_order)
        if whole and fleet != "one":
            yield Table(fleet, _HEAD, tuple(map(_cells, whole)))
        single = sorted((one for one in own if one.work.startswith(ONE)), key=_order)
        if single:
            yield Table(f"{fleet}, one node", _HEAD_ONE, tuple(_cells_one(one, least) for one in single))


def _order(one: Record) -> tuple[bool, str, bool, float]:
    """Floors after tools; of the tools, what is the same work together."""
    return (
        one.tool == "floor",
        "" if one.work == ALL else one.work,
        not one.cpu,
        one.seconds or 0,
    )


def _cells(one: Record) -> tuple[str, ...]:
    if not one.cpu:
        return one.tool, one.work, one.state, "-", "-", "-", "-", "-", "0", one.note
    wall = median(one.wall)
    ratio = f"{one.ratio:.2f}" if one.ratio is not None else "-"
    rate = f"{one.nodes / wall:.0f}" if one.nodes and wall else "-"
    cpu = f"{median(one.cpu):.3f}"
    memory = f"{median(one.rss):.0f}" if one.tool != "floor" else "-"
    runs = str(len(one.cpu))
    return one.tool, one.work, one.state, cpu, ratio, f"{wall:.3f}", rate, memory, runs, one.note or one.right


def _cells_one(one: Record, least: Mapping[tuple[str, str], Record]) -> tuple[str, ...]:
    work = one.work.removeprefix(f"{ONE}, ")
    if not one.cpu:
        return one.tool, work, one.state, "-", "-", "-", "-", "0", one.note
    start = least.get((one.work, one.state)) if one.tool == "gitcfg" else None
    over = f"{(median(one.cpu) - median(start.cpu)) * 1000:+.0f}" if start else "-"
    cpu, wall = (f"{median(figures) * 1000:.0f}" for figures in (one.cpu, one.wall))
    memory, runs = f"{median(one.rss):.0f}", str(len(one.cpu))
    return one.tool, work, one.state, cpu, over, wall, memory, runs, one.note or one.right


def text(table: Table) -> str:
    """A table for a terminal."""
    rows = [table.head, *table.rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(table.head))]
    lines = ["  ".join(_aligned(n, cell, widths[n]) for n, cell in enumerate(row)).rstrip() for row in rows]
    return "\n".join([table.title, *lines]) + "\n"


def _aligned(column: int, cell: str, width: int) -> str:
    return cell.rjust(width) if 3 <= column <= 7 else cell.ljust(width)
