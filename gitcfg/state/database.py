"""Connections to SQLite or PostgreSQL, and what differs between the two."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Insert, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from gitcfg.model import GitcfgError

_SECONDS = 30
_READS = "gitcfg_reads"
_SCHEMES = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}


def opened(url: str) -> Engine:
    """An engine for `sqlite:///PATH` or `postgresql://...`. GitcfgError: it is neither of these."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    if parsed is None or parsed.drivername not in _SCHEMES:
        hint = "Write sqlite:///PATH or postgresql://USER@HOST/NAME."
        raise GitcfgError("The database's address cannot be understood.", hint)
    parsed = parsed.set(drivername=_SCHEMES[parsed.drivername])
    return _sqlite(parsed) if parsed.drivername == "sqlite" else _postgresql(parsed)


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url, connect_args={"timeout": _SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # else Python's module begins transactions as it pleases
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Whoever reads first and writes then would fail where another one has written meanwhile; who only
        # reads need not wait for who writes.
        reads = connection.get_execution_options().get(_READS, False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


def _postgresql(url: URL) -> Engine:
    return create_engine(url, pool_pre_ping=True, pool_size=10, connect_args={"connect_timeout": _SECONDS})


@contextmanager
def changing(engine: Engine) -> Iterator[Connection]:
    """A transaction. GitcfgError: the database does not answer, or has no room left."""
    try:
        with engine.begin() as connection:
            yield connection
    except (OperationalError, DBAPIError) as error:
        said = str(error.orig).strip().splitlines()
        raise GitcfgError(f"The state database fails: {said[0] if said else error}.") from error


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that changes nothing. GitcfgError: the database does not answer."""
    with changing(engine.execution_options(**{_READS: True})) as connection:
        yield connection


def insert(connection: Connection, table: Table) -> Any:
    """An INSERT that knows ON CONFLICT, as both do in the same words."""
    chosen: Insert = (postgresql if is_postgresql(connection) else sqlite).insert(table)
    return chosen


def is_postgresql(connection: Connection) -> bool:
    """Which of the two is it?"""
    return connection.dialect.name == "postgresql"


def alone(connection: Connection, lock: int) -> None:
    """Wait for a lock, and keep it to the end of the transaction; SQLite has one writer anyway."""
    if is_postgresql(connection):
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})
