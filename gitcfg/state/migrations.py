"""Makes the tables, and brings those of earlier versions up to date."""

from collections.abc import Callable

from sqlalchemy import Connection, Engine, inspect, literal, select, text

from gitcfg.model import GitcfgError
from gitcfg.state.database import alone, changing, insert, reading
from gitcfg.state.tables import CLAIMS, DEPLOYS, META, METADATA, NODES

_LOCK = 0x67697463  # "gitc"


def _first(connection: Connection) -> None:
    METADATA.create_all(connection)


def _other_key(connection: Connection) -> None:
    """Of nodes that come with another key than git has. Tables that were made since have the column."""
    if "other" not in {column["name"] for column in inspect(connection).get_columns(NODES.name)}:
        connection.execute(text(f"ALTER TABLE {NODES.name} ADD COLUMN other TEXT"))


def _deploys(connection: Connection) -> None:
    """Who has deployed what a node runs, and which deploys were told."""
    known = {column["name"] for column in inspect(connection).get_columns(NODES.name)}
    for name, kind in (("via", "VARCHAR"), ("deployed", "DOUBLE PRECISION")):
        if name not in known:
            connection.execute(text(f"ALTER TABLE {NODES.name} ADD COLUMN {name} {kind}"))
    METADATA.create_all(connection, [DEPLOYS])


def _claims(connection: Connection) -> None:
    """Of every key that git does not have; of those from before, each node's first."""
    METADATA.create_all(connection, [CLAIMS])
    names = (NODES.c.node, NODES.c.key, NODES.c.first, NODES.c.last, NODES.c.address)
    waits = select(*names, NODES.c.address, literal(0)).where(NODES.c.commit.is_(None), NODES.c.key != "")
    connection.execute(CLAIMS.insert().from_select([column.name for column in CLAIMS.columns], waits))


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_first, _other_key, _deploys, _claims)
"""Each leads from the schema of its number to the next; a step that was released is never changed."""


def migrate(engine: Engine) -> None:
    """Carry out what is missing, all or nothing. GitcfgError: a newer gitcfg has been here."""
    with changing(engine) as connection:
        alone(connection, _LOCK)
        number = _number(connection)
        _refuse_newer(number)
        for step in MIGRATIONS[number:]:
            step(connection)
        said = insert(connection, META).values(name="schema", value=str(len(MIGRATIONS)))
        connection.execute(
            said.on_conflict_do_update(index_elements=["name"], set_={"value": said.excluded.value})
        )


def judge(engine: Engine) -> None:
    """Change nothing. GitcfgError: no server has been here yet, or one of another version.

    A server that runs would not start again on tables that somebody else has brought up to date.
    """
    with reading(engine) as connection:
        number = _number(connection)
    _refuse_newer(number)
    if not number:
        raise GitcfgError("No server has used this database yet.", "`gitcfg serve` makes its tables.")
    if number < len(MIGRATIONS):
        hint = "Use the gitcfg of that version, or let the server be of this one: it brings it up to date."
        raise GitcfgError("The server that uses this database is of an older version.", hint)


def _refuse_newer(number: int) -> None:
    if number > len(MIGRATIONS):
        message = f"The state database is of schema {number}; this version of gitcfg knows {len(MIGRATIONS)}."
        raise GitcfgError(message, "Use the newer gitcfg, or another database.")


def _number(connection: Connection) -> int:
    if not inspect(connection).has_table(META.name):
        return 0
    found = connection.execute(select(META.c.value).where(META.c.name == "schema")).scalar()
    return int(found or 0)
