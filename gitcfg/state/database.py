"""Connections to SQLite or PostgreSQL, and what differs between the two."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Insert, Table, create_engine, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from gitcfg.model import GitcfgError
from gitcfg.state.file import READS, file_engine, kept_engine

_SECONDS = 30
_HINTS = {
    True: "Is it running, and are its name, the user and the password right?",
    False: "Is it the server's file, and may you read and write it and its folder?",
}
_SCHEMES = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}


def opened(url: str) -> Engine:
    """An engine for `sqlite:///PATH` or `postgresql://...`. GitcfgError: it is neither of these."""
    return _opened(url, file_engine)


def opened_as_it_is(url: str) -> Engine:
    """The same for a database that is there. GitcfgError: there is no such file, and none is made."""
    return _opened(url, kept_engine)


def _opened(url: str, in_file: Callable[[URL], Engine]) -> Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    if parsed is None or parsed.drivername not in _SCHEMES:
        hint = "Write sqlite:///PATH or postgresql://USER@HOST/NAME."
        raise GitcfgError("The database's address cannot be understood.", hint)
    parsed = parsed.set(drivername=_SCHEMES[parsed.drivername])
    return in_file(parsed) if parsed.drivername == "sqlite" else _postgresql(parsed)


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
        message = f"The state database {_place(engine)} fails: {said[0] if said else error}."
        raise GitcfgError(message, _HINTS[is_postgresql(engine)]) from error


def _place(engine: Engine) -> str:
    """Which database that is, for people: a file, or an address without its password."""
    url = engine.url
    if not is_postgresql(engine):
        return str(url.database)
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that changes nothing. GitcfgError: the database does not answer."""
    with changing(engine.execution_options(**{READS: True})) as connection:
        yield connection


def insert(connection: Connection | Engine, table: Table) -> Any:
    """An INSERT that knows ON CONFLICT, as both do in the same words."""
    chosen: Insert = (postgresql if is_postgresql(connection) else sqlite).insert(table)
    return chosen


def is_postgresql(connection: Connection | Engine) -> bool:
    """Which of the two is it?"""
    return connection.dialect.name == "postgresql"


def alone(connection: Connection, lock: int) -> None:
    """Wait for a lock, and keep it to the end of the transaction; SQLite has one writer anyway."""
    if is_postgresql(connection):
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})
