"""Rows take turns, so that whatever else loads the machine hits all of them alike."""

from collections.abc import Callable, Sequence

import msgspec

from bench.measure.process import Limits, Usage, run
from bench.measure.record import Record, Row


class Turns(msgspec.Struct, frozen=True):
    """How often: `runs` times, and once what takes more than `slow` seconds of CPU."""

    runs: int = 3
    slow: float = 20
    limits: Limits = Limits()


def take_turns(rows: Sequence[Row], turns: Turns, tell: Callable[[str], None]) -> list[Record]:
    """Measure all rows, in rounds; a row that failed or was wrong is not tried again."""
    records = [_empty(row) for row in rows]
    for number in range(turns.runs):
        for index, row in enumerate(rows):
            if number and _done(row, records[index], turns):
                continue
            found = records[index] = _measured(row, records[index], turns.limits)
            figure = found.note or f"{found.cpu[-1]:.2f} s"
            tell(f"{row.fleet}: {row.tool}: {row.work} {row.state} ({number + 1}/{turns.runs}): {figure}")
    return records


def _empty(row: Row) -> Record:
    return Record(fleet=row.fleet, tool=row.tool, work=row.work, state=row.state, nodes=row.nodes)


def _done(row: Row, record: Record, turns: Turns) -> bool:
    return row.once or bool(record.note) or record.cpu[0] > turns.slow


def _measured(row: Row, record: Record, limits: Limits) -> Record:
    """The record with one run more, or with a note of what went wrong."""
    try:
        row.before()
        used = run(row.command, limits)
        if used.late:
            return _noted(record, f"not done within {limits.seconds:.0f} s")
        if used.exit:
            return _noted(record, f"exit {used.exit}: {row.command.complaint[:100]}")
        right = row.judge(row.command.printed) if row.judge else ""
        found = _inner(row, used) if row.inner else used
    except (ValueError, msgspec.DecodeError, OSError) as error:
        return _noted(record, f"wrong: {error}")
    return msgspec.structs.replace(
        record,
        cpu=(*record.cpu, round(found.cpu, 4)),
        wall=(*record.wall, round(found.wall, 4)),
        rss=(*record.rss, round(found.rss, 1)),
        right=right,
    )


def _noted(record: Record, note: str) -> Record:
    return msgspec.structs.replace(record, note=note)


class _Inner(msgspec.Struct):
    cpu: float
    wall: float


def _inner(row: Row, used: Usage) -> Usage:
    """What the program said of its own work."""
    told = msgspec.json.decode(row.command.printed.read_bytes(), type=_Inner)
    return msgspec.structs.replace(used, cpu=told.cpu, wall=told.wall)
