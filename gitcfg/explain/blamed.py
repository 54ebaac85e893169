"""Who made something so: what explanations ask of a history, and what they tell of it."""

from typing import Any, Protocol

from gitcfg.model import Origin

Record = dict[str, Any]


class Blamed(Protocol):
    """A commit that made a line what it is; `date` is ISO 8601."""

    @property
    def commit(self) -> str: ...
    @property
    def author(self) -> str: ...
    @property
    def email(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def shallow(self) -> bool: ...


class Blamer(Protocol):
    """Knows who made a layer say what it says at a place; None: that is not committed yet."""

    def of(self, label: str, origin: Origin) -> Blamed | None: ...


def with_blame(record: Record, blamer: Blamer | None, label: str, origin: Origin) -> Record:
    """A record of what a layer says at a place, with the commit that made it so where that is asked.

    What is not committed yet has the commit null.
    """
    if blamer is None:
        return record
    found = blamer.of(label, origin)
    return {**record, "blame": _blame(found) if found is not None else None}


def _blame(blamed: Blamed) -> Record:
    record = {
        "commit": blamed.commit,
        "author": blamed.author,
        "email": blamed.email,
        "date": blamed.date,
        "subject": blamed.subject,
    }
    return {**record, "shallow": True} if blamed.shallow else record
