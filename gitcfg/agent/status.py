"""The status of an agent, as data for programs and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ..install.drift import Drift
from ..install.package import Package
from ..install.plan import Debt
from ..install.record import debt_titles
from .config import Settings
from .errors import PENDING
from .keys import Identity
from .memory import Memory, times

SCHEMA = "gitcfg.status/1"


def make_status(
    settings: Settings,
    who: Identity,
    memory: Memory,
    package: Package | None,
    unreadable: Sequence[str] = (),
    owed: Sequence[Debt] = (),
) -> dict[str, Any]:
    """Return the status as plain data.

    Times are seconds since the epoch by this node's clock, null for never. `unreadable` lists why parts of
    the agent's state cannot be read; `memory` or `package` is then empty.
    """
    problem = memory.problem
    return {
        "schema": SCHEMA,
        "node": settings.node,
        "fingerprint": who.fingerprint,
        "servers": [str(one) for one in settings.servers],
        "server": memory.server or None,
        "contact": memory.contact or None,
        "clock_offset": memory.offset,
        "pending": problem is not None and problem.get("kind") == PENDING,
        "problem": problem,
        "unreadable": list(unreadable),
        "next": memory.next or None,
        "running": _running(memory, package),
        "last": memory.last,
        "failure": memory.failure and memory.failure._asdict(),
        "under_way": memory.begun or None,
        "unheard": len(memory.results),
        "drift": list(memory.drift),
        "owed": list(debt_titles(owed)),
    }


def _running(memory: Memory, package: Package | None) -> dict[str, Any] | None:
    """Return what runs. `since` is the server's time, null until the agent notices a foreign installation."""
    if package is None:
        return None
    known = memory.running
    if known is None or known.digest != package.digest:
        return {"commit": package.commit, "digest": package.digest, "since": None, "state": package.state}
    return {**known._asdict(), "state": package.state}


def format_status(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the status for people, line by line."""
    yield f"node      {data['node']}"
    yield f"key       {data['fingerprint']}"
    yield f"servers   {', '.join(data['servers'])}"
    yield f"contact   {_time(data['contact'])}{' with ' + data['server'] if data['server'] else ''}"
    offset = data["clock_offset"]
    if offset:
        yield f"clock     {abs(offset):g} s {'behind' if offset > 0 else 'ahead of'} the server's"
    if data["problem"]:
        yield f"problem   {' '.join(str(data['problem'].get('message')).split())}"
    yield from (f"problem   {one}" for one in data["unreadable"])
    if data["next"]:
        yield f"next      {_time(data['next'])}"
    unknown = data["running"] is None and data["unreadable"]
    yield f"runs      {'unknown' if unknown else _runs(data['running'])}"
    yield from _results(data)
    yield from (f"pending   {one}" for one in data["owed"])
    yield from (f"drift     {one['kind']} {one['path']}" for one in data["drift"])


def _results(data: Mapping[str, Any]) -> Iterator[str]:
    failure, last = data["failure"], data["last"]
    if failure:
        yield f"failed    {failure['commit'][:10]}, {times(failure['tries'])}, last {_time(failure['at'])}"
    if last:
        how = f"{last.get('outcome')} {last.get('step')}".rstrip()
        yield f"last      {str(last.get('commit'))[:10]} {how}, {_time(last.get('at'))}"
        yield from (f"          {line}" for line in str(last.get("output")).splitlines())
    if data["under_way"]:
        yield f"under way {data['under_way'][:10]}"
    if data["unheard"]:
        yield f"unsent    {data['unheard']} results that no server has received yet"


def _runs(running: Mapping[str, Any] | None) -> str:
    if running is None:
        return "no commit yet"
    since = f" since {_time(running['since'])}" if running["since"] else ""
    return f"{running['commit'][:10]}{since}{' (retired)' if running['state'] == 'retired' else ''}"


def format_drift(found: tuple[Drift, ...]) -> Iterator[str]:
    """Yield lines that describe drift."""
    for one in found:
        yield f"{one.kind:8}  {one.path}"
        yield from (f"          {line}" for line in one.diff.splitlines())


def _time(seconds: float | None) -> str:
    if not seconds:
        return "never"
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
