"""What is in force on a node, and what the last installation came to: read, with nothing touched."""

from __future__ import annotations

from .outcome import Outcome
from .package import Package
from .place import Place
from .record import read_record, read_report
from .store import opened

UNKNOWN, UNKNOWN_DIGEST = "0" * 40, "0" * 64
"""Of a record whose files may stand as some other commit has them."""


def installed(place: Place) -> Package | None:
    """The package in force: the last good one. None where there is none, or nobody knows which it is."""
    with opened(place) as store:
        record = read_record(store)
        package = record.package if record else None
        return None if package is None or package.commit == UNKNOWN else package


def last_report(place: Place) -> Outcome | None:
    """What the last installation came to, also if nobody was there to hear it."""
    with opened(place) as store:
        return read_report(store)
