"""The tables of the state database, alike in SQLite and PostgreSQL."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

METADATA = MetaData()
_NUMBER = BigInteger().with_variant(Integer, "sqlite")  # only an INTEGER counts up by itself there

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
