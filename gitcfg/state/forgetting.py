"""Nodes of which nothing is to be known any more: forgotten here, and by every server that runs."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Engine, delete

from gitcfg.state.database import changing
from gitcfg.state.events import keep
from gitcfg.state.records import Event
from gitcfg.state.tables import CLAIMS, NODES, RESULTS

FORGOTTEN = "forgotten"
"""The event by which servers know that they are to forget a node, too."""


def forget(engine: Engine, names: Sequence[str], at: float) -> None:
    """Know nothing of nodes any more, and tell every server: all or nothing."""
    with changing(engine) as connection:
        drop(connection, names)
        keep(connection, [Event(0, at, FORGOTTEN, name, {}) for name in names])


def drop(connection: Connection, names: Iterable[str]) -> None:
    """Take out what is known of nodes."""
    for name in names:
        connection.execute(delete(CLAIMS).where(CLAIMS.c.node == name))
        connection.execute(delete(NODES).where(NODES.c.node == name))
        connection.execute(delete(RESULTS).where(RESULTS.c.node == name))
