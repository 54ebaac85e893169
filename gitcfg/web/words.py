"""Formats of values, times and names on a page, with control characters escaped."""

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


def format_value(value: Any) -> str:
    """Format any value on one line; of a secret its name and version, never more."""
    if value is None:
        return "(no value)"
    if isinstance(value, str):
        return safe(value)
    return (
        safe(msgspec.json.encode(_redact(value)).decode()) if not _is_secret(value) else str(_redact(value))
    )


def is_set(value: Any) -> bool:
    """Return whether there is a value on this side of a change."""
    return value is not UNSET


def _is_secret(value: Any) -> bool:
    return isinstance(value, dict) and "$secret" in value


def _redact(value: Any) -> Any:
    if _is_secret(value):
        return f"<secret {safe(str(value['$secret']))} v{safe(str(value.get('version', '?')))}>"
    if isinstance(value, dict):
        return {name: _redact(inner) for name, inner in value.items()}
    return [_redact(inner) for inner in value] if isinstance(value, list | tuple) else value


def clean_text(lines: str) -> str:
    """Escape control characters in each line of a text; tabs stay."""
    return "\n".join("\t".join(map(safe, line.split("\t"))) for line in lines.splitlines())


def abbreviate(commit: str | None) -> str:
    """Abbreviate a commit's id."""
    return safe(commit)[:ABBREVIATED] if commit else ""


def format_duration(seconds: float) -> str:
    """Format a number of seconds in its largest unit."""
    found = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{int(max(0.0, seconds) // found[0])} {found[1]}"


def format_ago(at: float, now: float) -> str:
    """Format a time relative to now."""
    if abs(now - at) < 1:
        return "now"
    return f"{format_duration(now - at)} ago" if now > at else f"in {format_duration(at - now)}"


def format_iso(at: float) -> str:
    """Format a time by RFC 3339; out of range it is clamped, for nodes may report any number."""
    within = min(max(at, _FIRST), _LAST) if at == at else _FIRST
    return datetime.fromtimestamp(within, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_time(at: float) -> str:
    """Format a time for people."""
    return format_iso(at).replace("T", " ").replace("Z", " UTC")


def format_date(date: str) -> str:
    """Format a commit's date in UTC; what is no date stays as it is."""
    try:
        return format_time(datetime.fromisoformat(date).timestamp())
    except (ValueError, OverflowError):
        return safe(date)


@lru_cache(64)
def fold_names(names: tuple[str, ...]) -> str:
    """Fold names into a node set. Cached: 10,000 take 26 ms, at every event."""
    return safe(fold(names))


def quote_segment(name: str) -> str:
    """Quote a name as a segment of a path."""
    return quote(name, safe="")


def format_count(number: int, noun: str) -> str:
    """Format a count: `1 node`, `2,000 nodes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
