"""Events in the order in which they become readable, a sequence number, and a watcher for changes."""

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import psycopg
from sqlalchemy import Connection, Engine, delete, func, select, text
from sqlalchemy.exc import DBAPIError

from gitcfg.state.database import changing, file_identity, is_postgresql, reading, take_lock
from gitcfg.state.records import Event
from gitcfg.state.schema import EVENTS, get_meta, set_meta

CHANNEL = "gitcfg"
_LOCK = 0x65766E74  # "evnt"

_PAUSE = 1.0


class Events:
    """Events about nodes and releases."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, at: float, kind: str, data: Mapping[str, Any], node: str = "") -> None:
        """Store an event, and wake those that wait for one."""
        self.extend([Event(0, at, kind, node, data)])

    def extend(self, events: Sequence[Event]) -> None:
        """Store several events, in this order, with numbers of their own."""
        if events:
            with changing(self._engine) as connection:
                insert_events(connection, events)

    def after(self, number: int, limit: int = 1000) -> list[Event]:
        """Return the events after one, oldest first."""
        query = select(EVENTS).where(EVENTS.c.number > number).order_by(EVENTS.c.number).limit(limit)
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
        return [Event(row.number, row.at, row.kind, row.node, msgspec.json.decode(row.data)) for row in rows]

    def newest(self) -> int:
        """Return the number of the last event."""
        with reading(self._engine) as connection:
            return connection.execute(select(func.max(EVENTS.c.number))).scalar() or 0

    def sequence(self) -> int:
        """Return the number that was issued last; 0: none was."""
        with reading(self._engine) as connection:
            return int(get_meta(connection, "sequence") or 0)

    def next_sequence(self, now: float) -> int:
        """Return a number above all before.

        It increases with time, so also if the database was lost meanwhile.
        """
        with changing(self._engine) as connection:
            take_lock(connection, _LOCK)
            number = max(int(get_meta(connection, "sequence") or 0) + 1, int(now))
            set_meta(connection, "sequence", str(number))
        return number

    def prune(self, before: float) -> None:
        """Delete events from before a time."""
        with changing(self._engine) as connection:
            connection.execute(delete(EVENTS).where(EVENTS.c.at < before))


def insert_events(connection: Connection, events: Sequence[Event]) -> None:
    """Store events in the transaction of another change, which must end soon."""
    if not events:
        return
    # Without it, a smaller number could become visible after a larger one, and would never be read.
    take_lock(connection, _LOCK)
    rows = [
        {"at": one.at, "kind": one.kind, "node": one.node, "data": msgspec.json.encode(one.data).decode()}
        for one in events
    ]
    connection.execute(EVENTS.insert(), rows)
    if is_postgresql(connection):
        notice = {"channel": CHANNEL, "kind": events[-1].kind}
        connection.execute(text("SELECT pg_notify(:channel, :kind)"), notice)


class ChangeWatcher:
    """A thread that calls `wake` after every change by another process, and sometimes without one.

    PostgreSQL notifies of changes, SQLite is polled.
    """

    def __init__(self, engine: Engine, wake: Callable[[], object]) -> None:
        self._engine = engine
        self._wake = wake
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gitcfg-waking", daemon=True)

    def start(self) -> "ChangeWatcher":
        """Start watching."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop watching."""
        self._ended.set()
        self._thread.join(_PAUSE * 5)

    def _run(self) -> None:
        watch = self._listen_to_postgresql if is_postgresql(self._engine) else self._poll_sqlite
        while not self._ended.is_set():
            try:
                watch()
            except (psycopg.Error, sqlite3.Error, DBAPIError, OSError):
                # The database is unavailable: try again later.
                self._ended.wait(_PAUSE)
                self._wake()

    def _listen_to_postgresql(self) -> None:
        url = self._engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        with closing(psycopg.connect(url, autocommit=True)) as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            self._wake()  # for events before it listened
            while not self._ended.is_set():
                for _ in connection.notifies(timeout=_PAUSE, stop_after=1):
                    self._wake()

    def _poll_sqlite(self) -> None:
        path = Path(self._engine.url.database or "")
        with self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            known, file = None, file_identity(path)
            while not self._ended.wait(_PAUSE):
                if file_identity(path) != file:  # another file is at its path
                    raise FileNotFoundError(str(path))
                found = raw.execute("PRAGMA data_version").fetchone()
                if found != known:
                    known = found
                    self._wake()
