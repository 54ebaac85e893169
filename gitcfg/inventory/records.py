"""The inventory as programs read it, and ages as people say them."""

from collections.abc import Iterable
from typing import Any

from gitcfg.inventory.columns import COLUMNS, value
from gitcfg.inventory.places import Place
from gitcfg.load.keys import fingerprint

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def inventory_record(tip: str | None, now: float, places: Iterable[Place]) -> dict[str, Any]:
    """`gitcfg.inventory/1`. Times are seconds since the epoch, `age` are those since the last check-in."""
    return {
        "schema": "gitcfg.inventory/1",
        "tip": tip,
        "time": now,
        "nodes": [_node(one, now) for one in places],
    }


def _node(place: Place, now: float) -> dict[str, Any]:
    record = {name: value(place, name) for name in COLUMNS}
    record["key"] = fingerprint(record["key"]) if record["key"] else None
    record["age"] = None if record["checkin"] is None else max(0.0, now - record["checkin"])
    return record


def ago(seconds: float) -> str:
    """How long ago something was, in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "now"
