"""What happened, in an order that a reader can go on from, and a number that only rises."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, delete, func, select, text

from gitcfg.state.database import alone, changing, insert, is_postgresql, reading
from gitcfg.state.records import Event
from gitcfg.state.tables import EVENTS, META

CHANNEL = "gitcfg"
_LOCK = 0x65766E74  # "evnt"


class Events:
    """Everything that who watches wants to know of."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, at: float, kind: str, data: Mapping[str, Any], node: str = "") -> None:
        """Keep an event, and wake whoever waits for one."""
        self.extend([Event(0, at, kind, node, data)])

    def extend(self, events: Sequence[Event]) -> None:
        """Keep several, in this order, under numbers of their own."""
        if events:
            with changing(self._engine) as connection:
                keep(connection, events)

    def after(self, number: int, limit: int = 1000) -> list[Event]:
        """The events after one, oldest first."""
        asked = select(EVENTS).where(EVENTS.c.number > number).order_by(EVENTS.c.number).limit(limit)
        with reading(self._engine) as connection:
            rows = connection.execute(asked).all()
        return [Event(row.number, row.at, row.kind, row.node, msgspec.json.decode(row.data)) for row in rows]

    def newest(self) -> int:
        """The number of the last one."""
        with reading(self._engine) as connection:
            return connection.execute(select(func.max(EVENTS.c.number))).scalar() or 0

    def sequence(self) -> int:
        """The number that was given last; 0: none was."""
        with reading(self._engine) as connection:
            found = connection.execute(select(META.c.value).where(META.c.name == "sequence")).scalar()
        return int(found or 0)

    def next_sequence(self, now: float) -> int:
        """A number above all before, even where the database was lost meanwhile: time rises as well."""
        with changing(self._engine) as connection:
            alone(connection, _LOCK)
            found = connection.execute(select(META.c.value).where(META.c.name == "sequence")).scalar()
            number = max(int(found or 0) + 1, int(now))
            said = insert(connection, META).values(name="sequence", value=str(number))
            connection.execute(
                said.on_conflict_do_update(index_elements=["name"], set_={"value": said.excluded.value})
            )
        return number

    def prune(self, before: float) -> None:
        """Forget events from before a time."""
        with changing(self._engine) as connection:
            connection.execute(delete(EVENTS).where(EVENTS.c.at < before))


def keep(connection: Connection, events: Sequence[Event]) -> None:
    """Keep events together with what else is changed; the transaction ends soon."""
    if not events:
        return
    # Without it a smaller number could become visible after a larger one, and never be read.
    alone(connection, _LOCK)
    connection.execute(EVENTS.insert(), [_row(event) for event in events])
    _notify(connection, events[-1].kind)


def _row(event: Event) -> dict[str, Any]:
    data = msgspec.json.encode(event.data).decode()
    return {"at": event.at, "kind": event.kind, "node": event.node, "data": data}


def _notify(connection: Connection, kind: str) -> None:
    if is_postgresql(connection):
        connection.execute(text("SELECT pg_notify(:channel, :kind)"), {"channel": CHANNEL, "kind": kind})
