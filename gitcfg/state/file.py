"""SQLite in a file: made once with what leads to it, and never again where somebody has taken it away."""

import errno
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DisconnectionError

from gitcfg.model import GitcfgError

READS = "gitcfg_reads"
_SECONDS = 30
_PAUSE = 0.05
_ONE_AT_A_TIME = threading.Lock()
_FILE = "gitcfg_file"
_PRAGMAS = ("synchronous=NORMAL", "foreign_keys=ON")


def file_engine(url: URL) -> Engine:
    """An engine for a file, which is made if there is none. GitcfgError: that cannot be."""
    path = _path(url)
    _make(path)
    return _engine(url, path, _write_ahead)


def kept_engine(url: URL) -> Engine:
    """An engine for a file that is there, which is only opened. GitcfgError: there is none."""
    path = _path(url)
    if not path.is_file():
        raise GitcfgError(f"There is no database {path}.", "`gitcfg serve` makes it.")
    return _engine(url, path, _as_it_is)


def _engine(url: URL, path: Path, begin: Callable[[sqlite3.Connection], None]) -> Engine:
    def connected() -> sqlite3.Connection:
        # mode=rw: who has lost the file would write into a new one that nobody knows.
        address = f"file:{quote(str(path))}?mode=rw"
        return sqlite3.connect(address, uri=True, timeout=_SECONDS, check_same_thread=False)

    engine = create_engine(url, creator=connected)
    event.listen(engine, "connect", lambda connection, record: _prepare(connection, record, path, begin))
    event.listen(engine, "checkout", lambda _connection, record, _proxy: _same(record, path))
    event.listen(engine, "begin", _begin)
    return engine


def identity(engine: Engine) -> tuple[int, int] | None:
    """By what it is seen that an engine's file is another one; None: there is none."""
    return _identity(Path(engine.url.database or ""))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _path(url: URL) -> Path:
    path = Path(url.database or "")
    if path.name in ("", ":memory:"):
        raise GitcfgError("The database's address names no file.", "Write sqlite:///PATH.")
    return path


def _make(path: Path) -> None:
    """Only its owner can read it: it says what runs on every node."""
    # One that is there is not opened: closing it would drop the locks that SQLite has on it in this process.
    try:
        with _ONE_AT_A_TIME:
            if not path.exists():
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            elif not os.access(path, os.R_OK | os.W_OK):
                kept = os.statvfs(path).f_flag & os.ST_RDONLY
                number = errno.EROFS if kept else errno.EACCES
                raise OSError(number, os.strerror(number))
    except OSError as error:
        hint = "The server's user must be able to write there; --state DIR is another place."
        raise GitcfgError(f"The state database {path} cannot be opened: {error.strerror}.", hint) from None


def _prepare(connection: Any, record: Any, path: Path, begin: Callable[[sqlite3.Connection], None]) -> None:
    record.info[_FILE] = _identity(path)
    connection.isolation_level = None  # else Python's module begins transactions as it pleases
    begin(connection)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _as_it_is(connection: sqlite3.Connection) -> None:
    """Of somebody else's file, which nothing is written to."""


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Write to the file itself, be it empty, how it is kept.

    Where two do so at once, SQLite tells one of them so without waiting: each could wait for the other.
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


def _same(record: Any, path: Path) -> None:
    """A connection to a file that is no longer there would keep what nobody ever reads."""
    if record.info[_FILE] != _identity(path):
        raise DisconnectionError("the file is another one")


def _begin(connection: Connection) -> None:
    # Whoever reads first and writes then would fail where another one has written meanwhile; who only
    # reads need not wait for who writes.
    reads = connection.get_execution_options().get(READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
