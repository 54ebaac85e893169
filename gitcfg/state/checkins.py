"""Check-ins of nodes: written many at once, and read as what is known of each node."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, Row, case, delete, func, select

from gitcfg.state.database import changing, insert, reading
from gitcfg.state.records import Checkin, NodeState, Result
from gitcfg.state.tables import NODES, NONCES, RESULTS

NONCE_SECONDS = 600.0
_SAID = (
    "key",
    "commit",
    "digest",
    "since",
    "drift",
    "facts",
    "version",
    "clock_offset",
    "interval",
    "address",
)
_IF_SAID = ("result", "failed_commit", "failed_at")


class Checkins:
    """`gap` is how many seconds of silence make a node one that came back."""

    def __init__(self, engine: Engine, gap: float) -> None:
        self._engine = engine
        self._gap = gap

    def record(self, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
        """Keep what nodes say, all or nothing; of each, whether it was new, not a replay."""
        with changing(self._engine) as connection:
            fresh = _fresh(connection, checkins)
            taken = [one for one, new in zip(checkins, fresh, strict=True) if new]
            if taken:
                self._upsert(connection, taken)
                _results(connection, taken)
        return fresh

    def node(self, name: str) -> NodeState | None:
        """What is known of a node; None: it never came."""
        with reading(self._engine) as connection:
            row = connection.execute(select(NODES).where(NODES.c.node == name)).first()
        return None if row is None else _state(row)

    def nodes(self, seen_after: float = 0.0) -> list[NodeState]:
        """All nodes that came, in order of name, or those that did since."""
        asked = select(NODES).where(NODES.c.last >= seen_after).order_by(NODES.c.node)
        with reading(self._engine) as connection:
            return [_state(row) for row in connection.execute(asked)]

    def results(self, name: str, limit: int = 20) -> list[Result]:
        """How installations on a node went, newest first."""
        asked = select(RESULTS.c.result).where(RESULTS.c.node == name)
        asked = asked.order_by(RESULTS.c.at.desc(), RESULTS.c.number.desc()).limit(limit)
        with reading(self._engine) as connection:
            return [msgspec.json.decode(said, type=Result) for said in connection.execute(asked).scalars()]

    def claim(self, name: str, key: str, at: float) -> str:
        """Know a node by a key, unless it is known by one already; the key by which it is known now."""
        row = _row(Checkin(name, at, key))
        with changing(self._engine) as connection:
            connection.execute(insert(connection, NODES).on_conflict_do_nothing().values(**row))
            found = connection.execute(select(NODES.c.key).where(NODES.c.node == name)).scalar_one()
        return str(found)

    def forget(self, names: Iterable[str]) -> None:
        """Know nothing of nodes any more."""
        with changing(self._engine) as connection:
            for name in names:
                connection.execute(delete(NODES).where(NODES.c.node == name))
                connection.execute(delete(RESULTS).where(RESULTS.c.node == name))

    def prune(self, now: float, keep: float) -> None:
        """Forget nonces that are over, and results older than `keep` seconds."""
        with changing(self._engine) as connection:
            connection.execute(delete(NONCES).where(NONCES.c.until < now))
            connection.execute(delete(RESULTS).where(RESULTS.c.at < now - keep))

    def _upsert(self, connection: Connection, checkins: Sequence[Checkin]) -> None:
        said = insert(connection, NODES)
        new = said.excluded
        changes: dict[str, Any] = {name: new[name] for name in ("last", *_SAID)}
        changes |= {name: func.coalesce(new[name], NODES.c[name]) for name in _IF_SAID}
        changes["present"] = case((NODES.c.last < new.last - self._gap, new.last), else_=NODES.c.present)
        newer = said.on_conflict_do_update(
            index_elements=["node"], set_=changes, where=NODES.c.last <= new.last
        )
        # In order of name: two servers that write the same nodes must not wait for each other.
        rows = sorted(map(_row, checkins), key=lambda row: (str(row["node"]), float(row["last"])))
        connection.execute(newer, rows)


def _fresh(connection: Connection, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
    """Which nonces are used for the first time. A check-in without one was not signed: it is no replay."""
    asked = {(one.key, one.nonce): one.at for one in checkins if one.nonce}
    rows = [
        {"key": key, "nonce": nonce, "until": at + NONCE_SECONDS}
        for (key, nonce), at in sorted(asked.items())
    ]
    new: set[tuple[str, str]] = set()
    if rows:
        said = insert(connection, NONCES).on_conflict_do_nothing().returning(NONCES.c.key, NONCES.c.nonce)
        new = {(row.key, row.nonce) for row in connection.execute(said, rows)}
    found = []
    for one in checkins:
        found.append(not one.nonce or (one.key, one.nonce) in new)
        new.discard((one.key, one.nonce))  # the second time in the same batch is a replay, too
    return tuple(found)


def _row(said: Checkin) -> dict[str, Any]:
    result = said.result
    failed = result is not None and result.failed
    return {
        "node": said.node,
        "first": said.at,
        "last": said.at,
        "present": said.at,
        **{name: getattr(said, name) for name in _SAID},
        "drift": _json(said.drift),
        "facts": _json(said.facts),
        "result": None if result is None else _json(result),
        "failed_commit": result.commit if result is not None and failed else None,
        "failed_at": result.at if result is not None and failed else None,
    }


def _results(connection: Connection, checkins: Iterable[Checkin]) -> None:
    rows = [
        {"node": one.node, "at": one.result.at, "result": _json(one.result)} for one in checkins if one.result
    ]
    if rows:
        connection.execute(RESULTS.insert(), rows)


def _state(row: Row[Any]) -> NodeState:
    said = dict(row._mapping)
    result = said.pop("result")
    return NodeState(
        **{
            **said,
            "result": None if result is None else msgspec.json.decode(result, type=Result),
            "drift": tuple(msgspec.json.decode(said["drift"])),
            "facts": msgspec.json.decode(said["facts"]),
        }
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
