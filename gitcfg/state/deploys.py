"""What deploys over SSH have done to nodes: told by who deployed, and counted once however often it is."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, and_, case, func

from gitcfg.state.database import changing, insert
from gitcfg.state.events import keep
from gitcfg.state.records import Deployed, Event
from gitcfg.state.rows import deployed_row, result_rows
from gitcfg.state.tables import DEPLOYS, NODES, RESULTS

DEPLOY = "deploy"
"""The kind of events that tell of it, one for each node."""
_IF_KNOWN = ("result", "failed_commit", "failed_at")


class Deploys:
    """Beside what nodes say themselves: of both what is newer counts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._unknown = (
            insert(engine, DEPLOYS).on_conflict_do_nothing().returning(DEPLOYS.c.run, DEPLOYS.c.node)
        )
        self._beside, self._instead = _beside(engine), _instead(engine)

    def record(self, said: Sequence[Deployed]) -> tuple[bool, ...]:
        """Keep what deploys have done, all or nothing; of each, whether it was not known yet."""
        with changing(self._engine) as connection:
            fresh = self._fresh(connection, said)
            new = [one for one, unknown in zip(said, fresh, strict=True) if unknown]
            if new:
                self._upsert(connection, new)
                connection.execute(RESULTS.insert(), result_rows(new))
                keep(connection, [_event(one) for one in new])
        return fresh

    def _fresh(self, connection: Connection, said: Sequence[Deployed]) -> tuple[bool, ...]:
        asked = {(one.result.run, one.node): one.result.at for one in said}
        named = [{"run": run, "node": node, "at": at} for (run, node), at in sorted(asked.items())]
        new = {(run, node) for run, node in connection.execute(self._unknown, named)} if named else set()
        found = []
        for one in said:
            found.append((one.result.run, one.node) in new)
            new.discard((one.result.run, one.node))
        return tuple(found)

    def _upsert(self, connection: Connection, said: Iterable[Deployed]) -> None:
        # In order of name: two servers that write the same nodes must not wait for each other.
        installed = (one for one in said if one.installed)
        made = sorted(installed, key=lambda one: (one.node, one.result.at))
        for statement, agent in ((self._beside, True), (self._instead, False)):
            if rows := [deployed_row(one) for one in made if one.agent is agent]:
                connection.execute(statement, rows)


def _beside(engine: Engine) -> Any:
    """Writes what an agent is to say as well: it goes on to be away where it was."""
    new, old = insert(engine, NODES).excluded, NODES.c
    agentless = and_(old.via.is_not(None), old.interval == 0.0)  # as `NodeState.agentless` says it
    return _newer(engine, {"last": case((agentless, new.last), else_=old.last)})


def _instead(engine: Engine) -> Any:
    """Writes what nobody else says: there is no agent, and what one has said once is over."""
    return _newer(engine, {"last": insert(engine, NODES).excluded.last, "interval": 0.0, "drift": "[]"})


def _newer(engine: Engine, changes: dict[str, Any]) -> Any:
    """What writes a node's row unless something newer is known: what is not told stays as it was."""
    said = insert(engine, NODES)
    new, old = said.excluded, NODES.c
    same = and_(old.commit == new.commit, old.digest == new.digest, old.since.is_not(None))
    untold = new.commit.is_(None)
    changes = changes | {name: func.coalesce(new[name], old[name]) for name in ("commit", *_IF_KNOWN)}
    changes |= {
        "digest": case((untold, old.digest), else_=new.digest),
        "since": case((untold, old.since), (same, old.since), else_=new.since),
        "via": new.via,
        "deployed": new.deployed,
    }
    newer = and_(old.last <= new.last, func.coalesce(old.deployed, 0.0) <= new.last)
    return said.on_conflict_do_update(index_elements=["node"], set_=changes, where=newer)


def _event(said: Deployed) -> Event:
    result = said.result
    data = {"commit": result.commit, "outcome": result.outcome, "by": result.by, "run": result.run}
    return Event(0, result.at, DEPLOY, said.node, data)
