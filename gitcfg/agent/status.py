"""What the agent knows of its node, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

from ..install import Drift, Package
from .identity import Identity
from .memory import Memory
from .settings import Settings


def status(settings: Settings, who: Identity, memory: Memory, package: Package | None) -> Iterator[str]:
    """Line by line."""
    yield f"node      {settings.node}"
    yield f"key       {who.fingerprint}"
    yield f"servers   {', '.join(map(str, settings.servers))}"
    yield f"contact   {_time(memory.contact)}"
    if abs(memory.offset) >= 1:
        side = "behind" if memory.offset > 0 else "ahead of"
        yield f"clock     {abs(memory.offset):g} s {side} the server's"
    yield f"runs      {_running(memory, package)}"
    failure, last = memory.failure, memory.last
    if failure:
        yield f"failed    {failure.commit[:10]}, {failure.tries} times, last {_time(failure.at)}"
    if last:
        yield f"last      {str(last.get('commit'))[:10]} {last.get('outcome')} {last.get('step')}".rstrip()
        yield from (f"          {line}" for line in str(last.get("output")).splitlines())
    if memory.begun:
        yield f"under way {memory.begun[:10]}"
    if memory.results:
        yield f"unheard   {len(memory.results)} results that no server has heard yet"


def drift_lines(found: tuple[Drift, ...]) -> Iterator[str]:
    """What was changed by hand."""
    for one in found:
        yield f"{one.kind:8}  {one.path}"
        yield from (f"          {line}" for line in one.diff.splitlines())


def _running(memory: Memory, package: Package | None) -> str:
    if package is None:
        return "nothing of gitcfg's yet"
    known = memory.running
    same = known is not None and known.digest == package.digest
    commit = known.commit if known and same else package.commit
    since = f" since {_time(known.since)}" if known and same else ""
    return f"{commit[:10]}{since}{' (retired)' if package.state == 'retired' else ''}"


def _time(seconds: float) -> str:
    if not seconds:
        return "never"
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
