"""How values, times and names are written on a page: always on one line, and nothing in them but signs."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import UNSET

from gitcfg.model.nodeset import fold
from gitcfg.model.text import ABBREVIATED, safe

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_FIRST, _LAST = 0.0, datetime(9999, 1, 1, tzinfo=UTC).timestamp()


def said(value: Any) -> str:
    """Anything as a text on one line; of a secret its name and version, never more."""
    if value is None:
        return "(no value)"
    if isinstance(value, str):
        return safe(value)
    return safe(msgspec.json.encode(_veiled(value)).decode()) if not _secret(value) else str(_veiled(value))


def bound(value: Any) -> bool:
    """Is there a value on this side of a change?"""
    return value is not UNSET


def _secret(value: Any) -> bool:
    return isinstance(value, dict) and "$secret" in value


def _veiled(value: Any) -> Any:
    if _secret(value):
        return f"<secret {safe(str(value['$secret']))} v{safe(str(value.get('version', '?')))}>"
    if isinstance(value, dict):
        return {name: _veiled(inner) for name, inner in value.items()}
    return [_veiled(inner) for inner in value] if isinstance(value, list | tuple) else value


def text(lines: str) -> str:
    """A text of several lines, in each nothing but signs; tabs stay."""
    return "\n".join("\t".join(map(safe, line.split("\t"))) for line in lines.splitlines())


def short(commit: str | None) -> str:
    """A commit's id in short."""
    return safe(commit)[:ABBREVIATED] if commit else ""


def lasting(seconds: float) -> str:
    """So many seconds in their largest unit."""
    found = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{int(max(0.0, seconds) // found[0])} {found[1]}"


def ago(at: float, now: float) -> str:
    """How long ago a time was, or in how long it will be."""
    if abs(now - at) < 1:
        return "now"
    return f"{lasting(now - at)} ago" if now > at else f"in {lasting(at - now)}"


def iso(at: float) -> str:
    """A time as RFC 3339 has it; nodes may say what no calendar has."""
    within = min(max(at, _FIRST), _LAST) if at == at else _FIRST
    return datetime.fromtimestamp(within, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(at: float) -> str:
    """A time for eyes."""
    return iso(at).replace("T", " ").replace("Z", " UTC")


def dated(date: str) -> str:
    """A commit's date for eyes: whatever its author's zone, in UTC; as it is where it is none."""
    try:
        return moment(datetime.fromisoformat(date).timestamp())
    except (ValueError, OverflowError):
        return safe(date)


@lru_cache(64)
def folded(names: tuple[str, ...]) -> str:
    """Names as a node set. Kept: 10,000 take 26 ms, and are asked for whenever something happens."""
    return safe(fold(names))


def segment(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")


def many(number: int, noun: str) -> str:
    """`1 node`, `2,000 nodes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
