"""The tables of the state database, the same in SQLite and PostgreSQL, and the migrations to them."""

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    literal,
    select,
    text,
)

from gitcfg.model import GitcfgError
from gitcfg.state.database import changing, insert, reading, take_lock

METADATA = MetaData()
_NUMBER = BigInteger().with_variant(Integer, "sqlite")  # in SQLite only an INTEGER increments itself

META = Table(
    "meta", METADATA, Column("name", String, primary_key=True), Column("value", String, nullable=False)
)
NODES = Table(
    "nodes",
    METADATA,
    Column("node", String, primary_key=True),
    Column("first", Float, nullable=False),
    Column("last", Float, nullable=False),
    Column("present", Float, nullable=False),
    Column("key", String, nullable=False),
    Column("commit", String),
    Column("digest", String),
    Column("since", Float),
    Column("result", Text),
    Column("failed_commit", String),
    Column("failed_at", Float),
    Column("drift", Text, nullable=False),
    Column("facts", Text, nullable=False),
    Column("version", String, nullable=False),
    Column("clock_offset", Float, nullable=False),
    Column("interval", Float, nullable=False),
    Column("address", String, nullable=False),
    Column("other", Text),
    Column("via", String),
    Column("deployed", Float),
)
CLAIMS = Table(
    "claims",
    METADATA,
    Column("node", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("first", Float, nullable=False),
    Column("last", Float, nullable=False),
    Column("address", String, nullable=False),
    Column("origin", String, nullable=False, index=True),
    Column("described", Integer, nullable=False),
)
RESULTS = Table(
    "results",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("node", String, nullable=False),
    Column("at", Float, nullable=False),
    Column("result", Text, nullable=False),
    Index("results_by_node", "node", "at"),
    sqlite_autoincrement=True,
)
DEPLOYS = Table(
    "deploys",
    METADATA,
    Column("run", String, primary_key=True),
    Column("node", String, primary_key=True),
    Column("at", Float, nullable=False, index=True),
)
NONCES = Table(
    "nonces",
    METADATA,
    Column("key", String, primary_key=True),
    Column("nonce", String, primary_key=True),
    Column("until", Float, nullable=False, index=True),
)
TOKENS = Table(
    "tokens",
    METADATA,
    Column("name", String, primary_key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    Column("role", String, nullable=False),
    Column("created", Float, nullable=False),
    Column("used", Float),
)
SESSIONS = Table(
    "sessions",
    METADATA,
    Column("hash", LargeBinary, primary_key=True),
    Column("token", LargeBinary, nullable=False),
    Column("until", Float, nullable=False, index=True),
)
RELEASES = Table(
    "releases",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("commit", String, nullable=False, index=True),
    Column("base", String),
    Column("created", Float, nullable=False),
    Column("status", String, nullable=False),
    Column("plan", LargeBinary, nullable=False),
    Column("progress", Text, nullable=False),
    Column("back", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    sqlite_autoincrement=True,
)
EVENTS = Table(
    "events",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False, index=True),
    Column("kind", String, nullable=False),
    Column("node", String, nullable=False),
    Column("data", Text, nullable=False),
    sqlite_autoincrement=True,
)


_LOCK = 0x67697463  # "gitc"


def _create_tables(connection: Connection) -> None:
    METADATA.create_all(connection)


def _add_other_key(connection: Connection) -> None:
    """Add the column for the other key of nodes. Tables that were created later have it already."""
    if "other" not in {column["name"] for column in inspect(connection).get_columns(NODES.name)}:
        connection.execute(text(f"ALTER TABLE {NODES.name} ADD COLUMN other TEXT"))


def _add_deploys(connection: Connection) -> None:
    """Add the person who deployed what a node runs, and the deploys that were reported."""
    known = {column["name"] for column in inspect(connection).get_columns(NODES.name)}
    for name, kind in (("via", "VARCHAR"), ("deployed", "DOUBLE PRECISION")):
        if name not in known:
            connection.execute(text(f"ALTER TABLE {NODES.name} ADD COLUMN {name} {kind}"))
    METADATA.create_all(connection, [DEPLOYS])


def _add_claims(connection: Connection) -> None:
    """Add all keys that git does not have; for existing nodes, the first key of each."""
    METADATA.create_all(connection, [CLAIMS])
    names = (NODES.c.node, NODES.c.key, NODES.c.first, NODES.c.last, NODES.c.address)
    waits = select(*names, NODES.c.address, literal(0)).where(NODES.c.commit.is_(None), NODES.c.key != "")
    connection.execute(CLAIMS.insert().from_select([column.name for column in CLAIMS.columns], waits))


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _create_tables,
    _add_other_key,
    _add_deploys,
    _add_claims,
)
"""Each migrates the schema of its number to the next; a released step is never changed."""


def migrate(engine: Engine) -> None:
    """Carry out the missing migrations, all or none. Raise GitcfgError if the schema is of a newer gitcfg."""
    with changing(engine) as connection:
        take_lock(connection, _LOCK)
        number = _number(connection)
        _refuse_newer(number)
        for step in MIGRATIONS[number:]:
            step(connection)
        set_meta(connection, "schema", str(len(MIGRATIONS)))


def check_schema(engine: Engine) -> None:
    """Raise GitcfgError if no server has used the database yet, or if a server of another version has.

    Nothing is changed: after a migration, a running server of the old version could not start again.
    """
    with reading(engine) as connection:
        number = _number(connection)
    _refuse_newer(number)
    if not number:
        raise GitcfgError("No server has used this database yet.", "Run `gitcfg serve` to create its tables.")
    if number < len(MIGRATIONS):
        hint = "Use gitcfg of that version, or upgrade the server: it migrates the database."
        raise GitcfgError("The server that uses this database has an older version.", hint)


def _refuse_newer(number: int) -> None:
    if number > len(MIGRATIONS):
        supported = f"this version of gitcfg supports {len(MIGRATIONS)}"
        message = f"The state database has schema {number}, but {supported}."
        raise GitcfgError(message, "Use the newer gitcfg, or another database.")


def _number(connection: Connection) -> int:
    return int(get_meta(connection, "schema") or 0) if inspect(connection).has_table(META.name) else 0


def get_meta(connection: Connection, name: str) -> str | None:
    """Return a value of the database as a whole; None: there is none."""
    return connection.execute(select(META.c.value).where(META.c.name == name)).scalar()


def set_meta(connection: Connection, name: str, value: str) -> None:
    """Set a value of the database as a whole."""
    row = insert(connection, META).values(name=name, value=value)
    changes = {"value": row.excluded.value}
    connection.execute(row.on_conflict_do_update(index_elements=["name"], set_=changes))
