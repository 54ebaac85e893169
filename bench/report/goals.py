"""What gitcfg is to reach, beside what was measured: CPU seconds of whole processes, ratios, and memory."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TypeAlias

import msgspec

from bench.measure import Record
from bench.report.table import Table
from bench.rows.tools import AGAIN, ALL, ONE

Known: TypeAlias = Mapping[tuple[str, str, str], Record]


class Goal(msgspec.Struct, frozen=True):
    """At most so much of what a function finds in the results; it finds nothing where a row is missing."""

    title: str
    most: float
    unit: str
    found: Callable[[Known], float | None]


def _seconds(fleet: str, work: str, state: str) -> Callable[[Known], float | None]:
    return lambda known: known[fleet, work, state].seconds if (fleet, work, state) in known else None


def _ratio(fleet: str, work: str, state: str) -> Callable[[Known], float | None]:
    return lambda known: known[fleet, work, state].ratio if (fleet, work, state) in known else None


def _of_cold(known: Known) -> float | None:
    """The diff after a change, of the same without a cache."""
    warm, cold = _seconds("large", "diff", AGAIN)(known), _seconds("large", "diff", "cold")(known)
    return warm / cold if warm and cold else None


def _over_start(work: str, state: str) -> Callable[[Known], float | None]:
    """Milliseconds over the same command on a fleet of one node."""

    def found(known: Known) -> float | None:
        large = _seconds("large", f"{ONE}, {work}", state)(known)
        least = _seconds("one", f"{ONE}, {work}", state)(known)
        return (large - least) * 1000 if large and least else None

    return found


def _memory(*fleets: str) -> Callable[[Known], float | None]:
    """The largest of all rows."""
    return lambda known: max(
        (median(one.rss) for (fleet, *_), one in known.items() if fleet in fleets and one.rss), default=None
    )


GOALS = (
    Goal("large: all nodes, cold, checked", 0.75, "x yardstick", _ratio("large", ALL, "cold")),
    Goal("stress: all nodes, cold, checked", 0.75, "x yardstick", _ratio("stress", ALL, "cold")),
    Goal("own: all nodes, cold, checked", 0.75, "x yardstick", _ratio("own", ALL, "cold")),
    Goal("large: diff after one group changed", 0.1, "x its cold run", _of_cold),
    Goal("large: check, nothing changed", 0.25, "s", _seconds("large", "check", "nothing changed")),
    Goal("large: check, one group changed", 0.5, "s", _seconds("large", "check", AGAIN)),
    Goal("large: check, cold", 2.5, "s", _seconds("large", "check", "cold")),
    Goal("large: explain one node, warm", 50, "ms over start", _over_start("explain", "warm")),
    Goal("large: explain one node, cold", 200, "ms over start", _over_start("explain", "cold")),
    Goal("large: render one node, warm", 50, "ms over start", _over_start("render", "warm")),
    Goal("large: render one node, cold", 200, "ms over start", _over_start("render", "cold")),
    Goal("large: files, one group changed", 1.5, "s", _seconds("large", "all nodes, files", AGAIN)),
    Goal("large: peak memory of all rows", 180, "MiB", _memory("large")),
    Goal("huge: check, cold", 25, "s", _seconds("huge", "check", "cold")),
    Goal("huge: check, nothing changed", 1.5, "s", _seconds("huge", "check", "nothing changed")),
    Goal("sets: check, cold", 30, "s", _seconds("sets", "check", "cold")),
    Goal("sets: check, nothing changed", 3, "s", _seconds("sets", "check", "nothing changed")),
    Goal("huge and sets: peak memory", 4096, "MiB", _memory("huge", "sets")),
)


def goals(records: Sequence[Record]) -> Table:
    """Every goal with what was measured."""
    known = {(one.fleet, one.work, one.state): one for one in records if one.tool == "gitcfg"}
    return Table("Goals", ("goal (CPU)", "at most", "measured", ""), tuple(_row(one, known) for one in GOALS))


def _row(goal: Goal, known: Known) -> tuple[str, ...]:
    found = goal.found(known)
    if found is None:
        return goal.title, f"{goal.most:g} {goal.unit}", "-", "not measured"
    shown = f"{found:.2f}" if goal.most < 20 else f"{found:.0f}"
    return goal.title, f"{goal.most:g} {goal.unit}", shown, "reached" if found <= goal.most else "not reached"
