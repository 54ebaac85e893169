"""Tells when another process has changed the database: PostgreSQL says so, SQLite is asked."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing

import psycopg
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from gitcfg.state.events import CHANNEL
from gitcfg.state.file import identity

Wake = Callable[[], None]
_PAUSE = 1.0


class Waking:
    """A thread that calls `wake` after every change; now and then without one, never too seldom."""

    def __init__(self, engine: Engine, wake: Wake) -> None:
        self._engine = engine
        self._wake = wake
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gitcfg-waking", daemon=True)

    def start(self) -> "Waking":
        """Begin to listen."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Listen no more."""
        self._ended.set()
        self._thread.join(_PAUSE * 5)

    def _run(self) -> None:
        listen = self._postgresql if self._engine.dialect.name == "postgresql" else self._sqlite
        while not self._ended.is_set():
            try:
                listen()
            except (psycopg.Error, sqlite3.Error, DBAPIError, OSError):
                # The database is away for a while: look again later.
                self._ended.wait(_PAUSE)
                self._wake()

    def _postgresql(self) -> None:
        url = self._engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        with closing(psycopg.connect(url, autocommit=True)) as connection:
            connection.execute(f"LISTEN {CHANNEL}")
            self._wake()  # what happened before it listened
            while not self._ended.is_set():
                for _ in connection.notifies(timeout=_PAUSE, stop_after=1):
                    self._wake()

    def _sqlite(self) -> None:
        with self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            known, file = None, identity(self._engine)
            while not self._ended.wait(_PAUSE):
                if identity(self._engine) != file:  # somebody has put another one in its place
                    raise FileNotFoundError(str(self._engine.url.database))
                found = raw.execute("PRAGMA data_version").fetchone()
                if found != known:
                    known = found
                    self._wake()
