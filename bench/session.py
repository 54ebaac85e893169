"""One session of measuring: for each fleet, the rows that are asked for, in turns, into the kept results."""

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from bench.fleet import FLEETS
from bench.measure import Record, Row, Turns, take_turns
from bench.peers import PEERS
from bench.peers.environments import NotInstalled, environment, versions
from bench.report.machine import gitcfg_version
from bench.rows import Prepared, floor_rows, gitcfg_rows, prepare, tool_rows
from bench.rows.states import forget
from bench.rows.tools import ALL

GITCFG = "gitcfg"
FLOOR = "floor"
YARDSTICK = "yardstick"
TOOLS = (YARDSTICK, GITCFG, FLOOR, *(name for name in PEERS if name != YARDSTICK))


class Session(msgspec.Struct, frozen=True):
    """What is measured (tools by fleet), how often, and where; `source` has the gitcfg that is measured."""

    asked: Mapping[str, Sequence[str]]
    turns: Turns
    work: Path
    source: Path


def measure(session: Session) -> Iterator[list[Record]]:
    """The records of one fleet after another."""
    for name, tools in session.asked.items():
        _tell(f"{name}: preparing")
        limits = session.turns.limits
        ready = prepare(name, FLEETS[name], session.work, session.source, sys.executable, limits)
        forget(ready)
        rows, missing = _rows(ready, tools, session.work)
        records = take_turns(rows, session.turns, _tell)
        cpu = _yardstick(records)
        yield [_of_session(one, cpu, session.source) for one in (*records, *missing)]
        shutil.rmtree(ready.folder / "rendered", ignore_errors=True)
        shutil.rmtree(ready.folder / "states", ignore_errors=True)


def _rows(ready: Prepared, tools: Sequence[str], work: Path) -> tuple[list[Row], list[Record]]:
    """The rows of these tools; a record for each tool that cannot be had."""
    rows: list[Row] = []
    missing: list[Record] = []
    for tool in tools:
        if tool == GITCFG:
            rows += gitcfg_rows(ready)
        elif tool == FLOOR:
            rows += floor_rows(ready)
        else:
            try:
                rows += tool_rows(ready, PEERS[tool], environment(PEERS[tool], work / "environments"))
            except NotInstalled as error:
                missing.append(Record(fleet=ready.name, tool=tool, work=ALL, note=str(error)))
    return rows, missing


def _yardstick(records: Sequence[Record]) -> float | None:
    keys = {one.key: one.seconds for one in records}
    return next((cpu for key, cpu in keys.items() if key[1:] == (YARDSTICK, ALL, "")), None)


def _of_session(record: Record, cpu: float | None, source: Path) -> Record:
    """The record with what its session knows."""
    version = gitcfg_version(source) if record.tool == GITCFG else ""
    if record.tool in PEERS:
        version = versions(PEERS[record.tool])
    return msgspec.structs.replace(record, yardstick=cpu, version=version)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
