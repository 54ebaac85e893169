"""Connections to SQLite or PostgreSQL, and the differences between the two.

A file of SQLite is created once, and not again if it is removed.
"""

import errno
import os
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError

from gitcfg.model import GitcfgError

READS = "gitcfg_reads"
_SECONDS = 30
_PAUSE = 0.05
_ONE_AT_A_TIME = threading.Lock()
_FILE = "gitcfg_file"
_PRAGMAS = ("synchronous=NORMAL", "foreign_keys=ON")
_HINTS = {
    True: "Check that it is running, and that its name, the user and the password are right.",
    False: "Check that it is the server's file, and that you can read and write it and its folder.",
}
_SCHEMES = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}


def open_engine(url: str, create: bool = True) -> Engine:
    """Return an engine for `sqlite:///PATH` or `postgresql://...`.

    Raise GitcfgError if it is neither of these, or if the file cannot be created, or if it does not exist and
    `create` is false: nothing is then written.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    if parsed is None or parsed.drivername not in _SCHEMES:
        hint = "Write sqlite:///PATH or postgresql://USER@HOST/NAME."
        raise GitcfgError("The database address is not valid.", hint)
    parsed = parsed.set(drivername=_SCHEMES[parsed.drivername])
    if parsed.drivername == "sqlite":
        return _open_sqlite(parsed, create)
    return create_engine(parsed, pool_pre_ping=True, pool_size=10, connect_args={"connect_timeout": _SECONDS})


def _open_sqlite(url: URL, create: bool) -> Engine:
    path = Path(url.database or "")
    if path.name in ("", ":memory:"):
        raise GitcfgError("The database address has no file name.", "Write sqlite:///PATH.")
    if create:
        _create_file(path)
    elif not path.is_file():
        raise GitcfgError(f"The database {path} does not exist.", "Run `gitcfg serve` to create it.")

    def connect() -> sqlite3.Connection:
        # mode=rw: a lost file must not become a new, empty one.
        address = f"file:{quote(str(path))}?mode=rw"
        return sqlite3.connect(address, uri=True, timeout=_SECONDS, check_same_thread=False)

    engine = create_engine(url, creator=connect)
    event.listen(engine, "connect", lambda connection, record: _prepare(connection, record, path, create))
    event.listen(engine, "checkout", lambda _connection, record, _proxy: _check_file(record, path))
    event.listen(engine, "begin", _begin)
    return engine


@contextmanager
def changing(engine: Engine) -> Iterator[Connection]:
    """Open a transaction. Raise GitcfgError if the database does not answer, or has no space left."""
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        lines = str(error.orig).strip().splitlines()
        place = str(engine.url.database)
        if is_postgresql(engine):
            place = engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
        message = f"The state database {place} fails: {lines[0] if lines else error}."
        raise GitcfgError(message, _HINTS[is_postgresql(engine)]) from error


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that changes nothing. Raise GitcfgError if the database does not answer."""
    with changing(engine.execution_options(**{READS: True})) as connection:
        yield connection


def insert(connection: Connection | Engine, table: Table) -> Any:
    """Return an INSERT with ON CONFLICT, which both databases support with the same syntax."""
    return (postgresql if is_postgresql(connection) else sqlite).insert(table)


def is_postgresql(connection: Connection | Engine) -> bool:
    """Return whether it is PostgreSQL, not SQLite."""
    return connection.dialect.name == "postgresql"


def take_lock(connection: Connection, lock: int) -> None:
    """Wait for a lock, and hold it until the transaction ends; SQLite has one writer anyway."""
    if is_postgresql(connection):
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": lock})


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes a file from another one at its path; None: there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _create_file(path: Path) -> None:
    """Create the file if it does not exist. Only its owner can read it: it says what runs on every node."""
    # An existing file is not opened: closing it would drop the locks that SQLite has on it in this process.
    try:
        with _ONE_AT_A_TIME:
            if not path.exists():
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            elif not os.access(path, os.R_OK | os.W_OK):
                read_only = os.statvfs(path).f_flag & os.ST_RDONLY
                number = errno.EROFS if read_only else errno.EACCES
                raise OSError(number, os.strerror(number))
    except OSError as error:
        hint = "The server's user must be able to write there. Use `--state DIR` for another place."
        raise GitcfgError(f"Cannot open the state database {path}: {error.strerror}.", hint) from None


def _prepare(connection: Any, record: Any, path: Path, write_ahead: bool) -> None:
    record.info[_FILE] = file_identity(path)
    connection.isolation_level = None  # else Python's module decides when transactions begin
    if write_ahead:
        _enable_write_ahead_log(connection)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _enable_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Set the journal mode in the file itself, even if it is empty.

    If two processes do so at once, SQLite reports this to one of them without waiting, as each could wait for
    the other.
    """
    until = time.monotonic() + _SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_PAUSE * random.random())
        else:
            return


def _check_file(record: Any, path: Path) -> None:
    """Drop a connection to a file that was removed: its data would never be read."""
    if record.info[_FILE] != file_identity(path):
        raise DisconnectionError("the file was replaced")


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later would fail if another one has written meanwhile; one
    # that only reads need not wait for a writer.
    reads = connection.get_execution_options().get(READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
