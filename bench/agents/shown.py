"""The figures of a server under agents as tables."""

from collections.abc import Sequence

from bench.agents.figures import Figures, Kept, Rate, Round, Steady
from bench.agents.sheet import Spread
from bench.report.table import Table


def tables(found: Figures) -> tuple[Table, ...]:
    """What there is to be shown."""
    made = (_steady(found.steady), _times(found.steady), _rates(found.rates), _rounds(found.rounds))
    last = (
        _kept(found.kept),
        Table("Agents: not measured", ("why",), tuple((one,) for one in found.skipped)),
    )
    return tuple(table for table in (*made, *last) if table.rows)


def _steady(found: Sequence[Steady]) -> Table:
    head = ("server", "nodes", "each", "seconds", "requests/s", "CPU of a core", "database's")
    rows = tuple(
        (
            *(one.server, str(one.nodes), f"{one.interval:g} s", f"{one.seconds:.0f}"),
            f"{(one.checkins.count + one.polls.count) / one.seconds:.0f}",
            *(_share(one.cpu, one.seconds), _share(one.database, one.seconds), _share(one.own, one.seconds)),
            *(f"{one.peak:.0f}", str(one.sockets), str(one.wrong)),
        )
        for one in found
    )
    return Table("Agents: a steady fleet", (*head, "agents'", "MiB", "sockets", "refused"), rows)


def _times(found: Sequence[Steady]) -> Table:
    head = ("server", "request", "count", "p50 ms", "p95 ms", "p99 ms", "max ms")
    rows = tuple(
        (one.server, name, str(times.count), *(f"{value * 1000:.0f}" for value in _parts(times)))
        for one in found
        for name, times in (("check-in", one.checkins), ("poll, beyond its wait", one.polls))
    )
    return Table("Agents: how long answers took", head, rows)


def _parts(times: Spread) -> tuple[float, ...]:
    return times.p50, times.p95, times.p99, times.most


def _rates(found: Sequence[Rate]) -> Table:
    bare = {one.request: one.each for one in found if one.server == "bare"}
    head = ("server", "request", "count", "requests/s", "CPU us each", "x bare check-in", "database's CPU us")
    rows = tuple(
        (
            *(one.server, one.request, str(one.count), f"{one.count / one.seconds:.0f}", f"{one.each:.0f}"),
            f"{one.each / bare['check-in']:.2f}" if bare.get("check-in") else "-",
            "-" if one.database is None else f"{one.database / max(1, one.count) * 1e6:.0f}",
        )
        for one in found
    )
    return Table("Agents: CPU of a request", head, rows)


def _rounds(found: Sequence[Round]) -> Table:
    head = ("server", "nodes", "told", "first s", "half s", "last s", "CPU s", "MiB", "sockets")
    rows = tuple(
        (
            *(one.server, str(one.nodes), str(one.told)),
            *(f"{value:.2f}" for value in (one.first, one.middle, one.last, one.cpu)),
            *(f"{one.peak:.0f}", str(one.sockets)),
            *(f"{value * 1000:.0f}" for value in (one.checkins.p50, one.checkins.p99)),
        )
        for one in found
    )
    more = ("check-ins meanwhile, p50 ms", "p99 ms")
    return Table("Agents: a commit for every node, told", (*head, *more), rows)


def _kept(found: Sequence[Kept]) -> Table:
    head = ("server", "answered 200", "in the database", "nodes whose last is not there", "answers verified")
    rows = tuple(
        (one.server, *map(str, (one.answered, one.found, one.behind, one.verified)), one.wrong or "none")
        for one in found
    )
    return Table("Agents: check-ins kept", (*head, "refused or failed"), rows)


def _share(cpu: float | None, seconds: float) -> str:
    return "-" if cpu is None else f"{cpu / seconds * 100:.0f} %"
