"""Keys that nodes come with and that git does not have: the first of a stranger, another one of a node."""

import msgspec
from sqlalchemy import Engine, select

from gitcfg.state.database import changing, insert
from gitcfg.state.records import Checkin, OtherKey
from gitcfg.state.rows import node_row
from gitcfg.state.tables import NODES


class Claims:
    """What is claimed proves nothing: somebody has to agree to a key."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(self, name: str, key: str, at: float, address: str = "") -> str:
        """Know a node by a key, unless it is known by one already; the key by which it is known now."""
        row = node_row(Checkin(name, at, key, address=address))
        with changing(self._engine) as connection:
            # A node that was deployed to is known by no key yet.
            asked = insert(connection, NODES).values(**row)
            asked = asked.on_conflict_do_update(
                index_elements=["node"], set_={"key": key, "address": address}, where=NODES.c.key == ""
            )
            connection.execute(asked)
            found = connection.execute(select(NODES.c.key).where(NODES.c.node == name)).scalar_one()
        return str(found)

    def other(self, name: str, key: str, said: OtherKey) -> None:
        """A node that git knows by `key` comes with another one; the newest of those is kept."""
        other = msgspec.json.encode(said).decode()
        row = node_row(Checkin(name, said.at, key)) | {"other": other}
        with changing(self._engine) as connection:
            asked = insert(connection, NODES).values(**row)
            connection.execute(asked.on_conflict_do_update(index_elements=["node"], set_={"other": other}))
