"""Check-ins of nodes: written many at once, and read as what is known of each node."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, Engine, and_, bindparam, case, delete, func, or_, select

from gitcfg.rollout.outcomes import LEAST, MISSED, MOST
from gitcfg.state import rows
from gitcfg.state.claims import claims_of
from gitcfg.state.database import changing, insert, reading
from gitcfg.state.forgetting import drop
from gitcfg.state.records import Checkin, Claim, NodeState, Result
from gitcfg.state.rows import NONCE_SECONDS, node_row, node_state
from gitcfg.state.tables import DEPLOYS, NODES, NONCES, RESULTS

_AT_ONCE = 500
"""So many names are asked for with one question: databases take no question of any length."""
__all__ = ["NONCE_SECONDS", "Checkins"]


class Checkins:
    """What nodes have said, by name."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Put together once: to do so anew took a third of the time of a batch.
        self._newer = _newer(engine)
        self._unused = insert(engine, NONCES).on_conflict_do_nothing().returning(NONCES.c.key, NONCES.c.nonce)

    def record(self, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
        """Keep what nodes say, all or nothing; of each, whether it was new, not a replay."""
        with changing(self._engine) as connection:
            fresh = self._fresh(connection, checkins)
            taken = [one for one, new in zip(checkins, fresh, strict=True) if new]
            if taken:
                self._upsert(connection, taken)
                if found := rows.result_rows(taken):
                    connection.execute(RESULTS.insert(), found)
        return fresh

    def node(self, name: str) -> NodeState | None:
        """What is known of a node; None: it never came."""
        with reading(self._engine) as connection:
            row = connection.execute(select(*rows.COLUMNS).where(NODES.c.node == name)).first()
            return None if row is None else _with_claims([node_state(row)], claims_of(connection, [name]))[0]

    def nodes(self, seen_after: float = 0.0) -> list[NodeState]:
        """All nodes that came, in order of name, or those that did since."""
        asked = select(*rows.COLUMNS).where(NODES.c.last >= seen_after).order_by(NODES.c.node)
        with reading(self._engine) as connection:
            found = [node_state(row) for row in connection.execute(asked)]
            return _with_claims(found, claims_of(connection)) if found else found

    def named(self, names: Iterable[str]) -> list[NodeState]:
        """Some nodes, of those that came, in order of name."""
        asked = select(*rows.COLUMNS).where(NODES.c.node.in_(bindparam("names", expanding=True)))
        found: list[NodeState] = []
        with reading(self._engine) as connection:
            wanted = sorted(set(names))
            for some in (wanted[at : at + _AT_ONCE] for at in range(0, len(wanted), _AT_ONCE)):
                here = map(node_state, connection.execute(asked.order_by(NODES.c.node), {"names": some}))
                found += _with_claims(list(here), claims_of(connection, some))
        return found

    def results(self, name: str, limit: int = 20) -> list[Result]:
        """How installations on a node went, newest first."""
        asked = select(RESULTS.c.result).where(RESULTS.c.node == name)
        asked = asked.order_by(RESULTS.c.at.desc(), RESULTS.c.number.desc()).limit(limit)
        with reading(self._engine) as connection:
            return [rows.result(said) for said in connection.execute(asked).scalars()]

    def forget(self, names: Iterable[str]) -> None:
        """Know nothing of nodes any more."""
        with changing(self._engine) as connection:
            drop(connection, names)

    def prune(self, now: float, keep: float) -> None:
        """Forget nonces that are over, and results older than `keep` seconds."""
        with changing(self._engine) as connection:
            connection.execute(delete(NONCES).where(NONCES.c.until < now))
            connection.execute(delete(RESULTS).where(RESULTS.c.at < now - keep))
            connection.execute(delete(DEPLOYS).where(DEPLOYS.c.at < now - keep))

    def _fresh(self, connection: Connection, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
        """Which nonces are used for the first time. What has none was not signed: it is no replay."""
        new: set[tuple[str, str]] = set()
        if asked := rows.nonce_rows(checkins):
            new = {(key, nonce) for key, nonce in connection.execute(self._unused, asked)}
        found = []
        for one in checkins:
            found.append(not one.nonce or (one.key, one.nonce) in new)
            new.discard((one.key, one.nonce))  # the second time in the same batch is a replay, too
        return tuple(found)

    def _upsert(self, connection: Connection, checkins: Sequence[Checkin]) -> None:
        # In order of name: two servers that write the same nodes must not wait for each other.
        found = sorted(map(node_row, checkins), key=lambda row: (str(row["node"]), float(row["last"])))
        connection.execute(self._newer, found)


def _with_claims(states: list[NodeState], claims: Mapping[str, tuple[Claim, ...]]) -> list[NodeState]:
    return [replace(one, claims=claims[one.node]) if one.node in claims else one for one in states]


def _newer(engine: Engine) -> Any:
    """What writes a node's row unless there is a newer one."""
    said = insert(engine, NODES)
    new = said.excluded
    changes: dict[str, Any] = {name: new[name] for name in ("last", *rows.SAID, *rows.BY_AGENT)}
    changes |= {name: func.coalesce(new[name], NODES.c[name]) for name in rows.IF_SAID}
    changes["present"] = case((_back(new.last - NODES.c.last, new.interval), new.last), else_=NODES.c.present)
    return said.on_conflict_do_update(
        index_elements=["node"],
        set_=changes,
        where=and_(NODES.c.last <= new.last, func.coalesce(NODES.c.deployed, 0.0) <= new.last),
    )


def _back(silent: ColumnElement[float], interval: ColumnElement[float]) -> ColumnElement[bool]:
    """Was a node silent for longer than its patience? As `rollout.patience` says it, where rows are."""
    return and_(silent > LEAST, or_(silent > MISSED * interval, silent > MOST))
