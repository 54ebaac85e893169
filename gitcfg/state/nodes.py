"""What is known of nodes by check-ins and deploys, and the keys that wait to be accepted."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    and_,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    update,
)

from gitcfg.load.keys import fingerprint
from gitcfg.rollout import LEAST, MISSED, MOST
from gitcfg.state.database import changing, insert, reading, take_lock
from gitcfg.state.events import insert_events
from gitcfg.state.records import Checkin, Claim, Deployed, Event, NodeState, OtherKey, Result
from gitcfg.state.schema import CLAIMS, DEPLOYS, NODES, NONCES, RESULTS

REPORTED = (
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
"""The fields that each check-in replaces."""
BY_AGENT = ("via",)
"""The fields that a check-in clears."""
IF_REPORTED = ("result", "failed_commit", "failed_at")
"""The fields that stay if a check-in does not have them."""
NONCE_SECONDS = 600.0
COLUMNS = tuple(NODES.c[name] for name in NodeState.__struct_fields__ if name != "claims")
"""The columns of a node to read: its claims are in another table."""
_RESULT = msgspec.json.Decoder(Result)
_OTHER = msgspec.json.Decoder(OtherKey)
_ANY = msgspec.json.Decoder()
_place = NodeState.__struct_fields__.index
_READ: tuple[tuple[int, Callable[[Any], Any]], ...] = (
    (_place("result"), lambda text: None if text is None else _RESULT.decode(text)),
    (_place("drift"), lambda text: tuple(_ANY.decode(text))),
    (_place("facts"), _ANY.decode),
    (_place("other"), lambda text: None if text is None else _OTHER.decode(text)),
)
FORGOTTEN = "forgotten"
"""The event on which all servers forget a node."""
_AT_ONCE = 500
"""The maximum number of nodes in a query: databases limit its length."""
DEPLOY = "deploy"
"""The class of events about deploys, one for each node."""


def to_node_row(report: Checkin) -> dict[str, Any]:
    """Return a check-in as the row of its node."""
    result = report.result
    failed = result if result is not None and result.failed else None
    return {
        "node": report.node,
        "first": report.at,
        "last": report.at,
        "present": report.at,
        **{name: getattr(report, name) for name in REPORTED},
        **dict.fromkeys(BY_AGENT),
        "drift": _json(report.drift),
        "facts": _json(report.facts),
        "result": None if result is None else _json(result),
        "failed_commit": None if failed is None else failed.commit,
        "failed_at": None if failed is None else failed.at,
    }


def to_deployed_row(report: Deployed) -> dict[str, Any]:
    """Return an installation by a deploy as the row of a node of which nothing else is known."""
    known = Checkin(
        report.node,
        report.result.at,
        commit=report.commit,
        digest=report.digest,
        since=report.result.at if report.commit is not None else None,
        result=report.result,
    )
    return to_node_row(known) | {"via": report.result.by, "deployed": report.result.at}


def to_result_rows(reports: Iterable[Checkin | Deployed]) -> list[dict[str, Any]]:
    """Return the results in reports of nodes as rows."""
    return [
        {"node": one.node, "at": one.result.at, "result": _json(one.result)} for one in reports if one.result
    ]


def to_nonce_rows(checkins: Sequence[Checkin]) -> list[dict[str, Any]]:
    """Return the nonces in check-ins as rows, in an order that prevents deadlocks of two servers."""
    nonces = {(one.key, one.nonce): one.at for one in checkins if one.nonce}
    return [
        {"key": key, "nonce": nonce, "until": at + NONCE_SECONDS}
        for (key, nonce), at in sorted(nonces.items())
    ]


def parse_node_row(row: Row[Any]) -> NodeState:
    """Return the record of a row of COLUMNS. By position: by name took twice as long."""
    values = list(row)
    for place, read in _READ:
        values[place] = read(values[place])
    return NodeState(*values)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def forget(engine: Engine, names: Sequence[str], at: float) -> None:
    """Delete all information about nodes, and make every server forget them: all or none."""
    with changing(engine) as connection:
        delete_nodes(connection, names)
        insert_events(connection, [Event(0, at, FORGOTTEN, name, {}) for name in names])


def find_claims(connection: Connection, names: Iterable[str] | None = None) -> dict[str, tuple[Claim, ...]]:
    """Return the keys that nodes presented, in the order in which they did; of some nodes, or of all."""
    query = select(CLAIMS).order_by(CLAIMS.c.node, CLAIMS.c.first, CLAIMS.c.key)
    if names is not None:
        query = query.where(CLAIMS.c.node.in_(list(names)))
    found: dict[str, list[Claim]] = {}
    for row in connection.execute(query):
        found.setdefault(row.node, []).append(Claim(row.key, row.first, row.last, row.address))
    return {node: tuple(several) for node, several in found.items()}


def delete_nodes(connection: Connection, names: Iterable[str]) -> None:
    """Delete all information about nodes."""
    for name in names:
        connection.execute(delete(CLAIMS).where(CLAIMS.c.node == name))
        connection.execute(delete(NODES).where(NODES.c.node == name))
        connection.execute(delete(RESULTS).where(RESULTS.c.node == name))


class Checkins:
    """The reports of nodes, by name."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Built once: building it each time took a third of the time of a batch.
        self._newer = _checkin_upsert(engine)
        self._unused = insert(engine, NONCES).on_conflict_do_nothing().returning(NONCES.c.key, NONCES.c.nonce)

    def record(self, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
        """Store check-ins, all or none; return for each whether it was new, not a replay."""
        with changing(self._engine) as connection:
            fresh = self._find_fresh(connection, checkins)
            new = [one for one, is_fresh in zip(checkins, fresh, strict=True) if is_fresh]
            if new:
                # In order of name: two servers that write the same nodes must not wait for each other.
                ordered = sorted(new, key=lambda one: (one.node, one.at))
                connection.execute(self._newer, [to_node_row(one) for one in ordered])
                if results := to_result_rows(new):
                    connection.execute(RESULTS.insert(), results)
        return fresh

    def node(self, name: str) -> NodeState | None:
        """Return what is known of a node; None: it never checked in."""
        return next(iter(self.named([name])), None)

    def nodes(self, seen_after: float = 0.0) -> list[NodeState]:
        """Return all nodes that ever checked in, in order of name, or those that did since a time."""
        query = select(*COLUMNS).where(NODES.c.last >= seen_after).order_by(NODES.c.node)
        with reading(self._engine) as connection:
            found = [parse_node_row(row) for row in connection.execute(query)]
            return _with_claims(found, find_claims(connection)) if found else found

    def named(self, names: Iterable[str]) -> list[NodeState]:
        """Return those of some nodes that ever checked in, in order of name."""
        query = select(*COLUMNS).where(NODES.c.node.in_(bindparam("names", expanding=True)))
        found: list[NodeState] = []
        with reading(self._engine) as connection:
            ordered = sorted(set(names))
            for some in (ordered[at : at + _AT_ONCE] for at in range(0, len(ordered), _AT_ONCE)):
                rows = connection.execute(query.order_by(NODES.c.node), {"names": some})
                found += _with_claims([parse_node_row(row) for row in rows], find_claims(connection, some))
        return found

    def results(self, name: str, limit: int = 20) -> list[Result]:
        """Return the results of installations on a node, newest first."""
        query = select(RESULTS.c.result).where(RESULTS.c.node == name)
        query = query.order_by(RESULTS.c.at.desc(), RESULTS.c.number.desc()).limit(limit)
        with reading(self._engine) as connection:
            return [_RESULT.decode(text) for text in connection.execute(query).scalars()]

    def forget(self, names: Iterable[str]) -> None:
        """Delete all information about nodes."""
        with changing(self._engine) as connection:
            delete_nodes(connection, names)

    def prune(self, now: float, keep: float) -> None:
        """Delete expired nonces, and results older than `keep` seconds."""
        with changing(self._engine) as connection:
            connection.execute(delete(NONCES).where(NONCES.c.until < now))
            connection.execute(delete(RESULTS).where(RESULTS.c.at < now - keep))
            connection.execute(delete(DEPLOYS).where(DEPLOYS.c.at < now - keep))

    def _find_fresh(self, connection: Connection, checkins: Sequence[Checkin]) -> tuple[bool, ...]:
        """Return which nonces are used for the first time.

        A check-in without a nonce was not signed, so it is new.
        """
        new: set[tuple[str, str]] = set()
        if nonces := to_nonce_rows(checkins):
            new = {(key, nonce) for key, nonce in connection.execute(self._unused, nonces)}
        found = []
        for one in checkins:
            found.append(not one.nonce or (one.key, one.nonce) in new)
            new.discard((one.key, one.nonce))  # the second time in the same batch is a replay, too
        return tuple(found)


def _with_claims(states: list[NodeState], claims: Mapping[str, tuple[Claim, ...]]) -> list[NodeState]:
    return [replace(one, claims=claims[one.node]) if one.node in claims else one for one in states]


def _checkin_upsert(engine: Engine) -> Any:
    """Return the statement that writes a node's row unless there is a newer one."""
    row = insert(engine, NODES)
    new = row.excluded
    changes: dict[str, Any] = {name: new[name] for name in ("last", *REPORTED, *BY_AGENT)}
    changes |= {name: func.coalesce(new[name], NODES.c[name]) for name in IF_REPORTED}
    changes["present"] = case(
        (_was_away(new.last - NODES.c.last, new.interval), new.last), else_=NODES.c.present
    )
    return row.on_conflict_do_update(
        index_elements=["node"],
        set_=changes,
        where=and_(NODES.c.last <= new.last, func.coalesce(NODES.c.deployed, 0.0) <= new.last),
    )


def _was_away(silent: ColumnElement[float], interval: ColumnElement[float]) -> ColumnElement[bool]:
    """Return whether a node was silent for longer than its patience, as `compute_patience` does, in SQL."""
    return and_(silent > LEAST, or_(silent > MISSED * interval, silent > MOST))


class Deploys:
    """What deploys have done to nodes, counted once even if it is reported several times.

    A newer deploy or check-in overrides an older one.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._unknown = (
            insert(engine, DEPLOYS).on_conflict_do_nothing().returning(DEPLOYS.c.run, DEPLOYS.c.node)
        )
        self._with_agent, self._without_agent = _with_agent(engine), _without_agent(engine)

    def record(self, reports: Sequence[Deployed]) -> tuple[bool, ...]:
        """Store what deploys have done, all or none; return for each whether it is new."""
        with changing(self._engine) as connection:
            fresh = self._find_fresh(connection, reports)
            new = [one for one, is_fresh in zip(reports, fresh, strict=True) if is_fresh]
            if new:
                self._upsert(connection, new)
                connection.execute(RESULTS.insert(), to_result_rows(new))
                insert_events(connection, [_to_event(one) for one in new])
        return fresh

    def _find_fresh(self, connection: Connection, reports: Sequence[Deployed]) -> tuple[bool, ...]:
        times = {(one.result.run, one.node): one.result.at for one in reports}
        named = [{"run": run, "node": node, "at": at} for (run, node), at in sorted(times.items())]
        new = {(run, node) for run, node in connection.execute(self._unknown, named)} if named else set()
        found = []
        for one in reports:
            found.append((one.result.run, one.node) in new)
            new.discard((one.result.run, one.node))
        return tuple(found)

    def _upsert(self, connection: Connection, reports: Iterable[Deployed]) -> None:
        # In order of name: two servers that write the same nodes must not wait for each other.
        installed = sorted(
            (one for one in reports if one.installed), key=lambda one: (one.node, one.result.at)
        )
        for statement, agent in ((self._with_agent, True), (self._without_agent, False)):
            if rows := [to_deployed_row(one) for one in installed if one.agent is agent]:
                connection.execute(statement, rows)


def _with_agent(engine: Engine) -> Any:
    """Return the statement for nodes with an agent, which reports as well: deploys do not end an absence."""
    new, old = insert(engine, NODES).excluded, NODES.c
    agentless = and_(old.via.is_not(None), old.interval == 0.0)  # as in `NodeState.agentless`
    return _deployed_upsert(engine, {"last": case((agentless, new.last), else_=old.last)})


def _without_agent(engine: Engine) -> Any:
    """Return the statement for nodes without an agent: earlier reports of an agent are deleted."""
    return _deployed_upsert(
        engine, {"last": insert(engine, NODES).excluded.last, "interval": 0.0, "drift": "[]"}
    )


def _deployed_upsert(engine: Engine, changes: dict[str, Any]) -> Any:
    """Return a statement that writes a node's row unless something newer is known, and keeps the rest."""
    row = insert(engine, NODES)
    new, old = row.excluded, NODES.c
    same = and_(old.commit == new.commit, old.digest == new.digest, old.since.is_not(None))
    unreported = new.commit.is_(None)
    changes = changes | {name: func.coalesce(new[name], old[name]) for name in ("commit", *IF_REPORTED)}
    changes |= {
        "digest": case((unreported, old.digest), else_=new.digest),
        "since": case((unreported, old.since), (same, old.since), else_=new.since),
        "via": new.via,
        "deployed": new.deployed,
    }
    newer = and_(old.last <= new.last, func.coalesce(old.deployed, 0.0) <= new.last)
    return row.on_conflict_do_update(index_elements=["node"], set_=changes, where=newer)


def _to_event(deploy: Deployed) -> Event:
    result = deploy.result
    data = {"commit": result.commit, "outcome": result.outcome, "by": result.by, "run": result.run}
    return Event(0, result.at, DEPLOY, deploy.node, data)


# Claims: keys that nodes present and that git does not have, which prove nothing until one is accepted.

PENDING, ANOTHER, WALK_IN = "pending", "another-key", "walk-in"
"""The events about a key: of a node that waits, of one with another key, of a walk-in node."""
_LOCK = 0x636C6169  # "clai"
_SITE = 64
"""The number of bits of an IPv6 network that counts as one site."""
_ALL = 1 << 31
"""SQLite requires a LIMIT with an OFFSET."""
_Dropped = dict[tuple[str, str], bool]


class Limits(msgspec.Struct, frozen=True):
    """How many claims are kept, in all and from one address, and for how long.

    The oldest are dropped first, those of nodes that git does not describe before all others: invented names
    cannot displace a described node.
    """

    most: int = 1000
    each: int = 20
    seconds: float = 7 * 86400.0


USUAL = Limits()


class PresentedKey(msgspec.Struct, frozen=True):
    """A key that a node presents; `kind` is the event about it."""

    node: str
    key: str
    at: float
    address: str = ""
    described: bool = True
    kind: str = PENDING


class ClaimReport(msgspec.Struct, frozen=True):
    """The result of a claim: `known` is the key by which the node is known, or "".

    `gone` are nodes that were forgotten because of new ones.
    """

    fresh: bool
    known: str
    gone: tuple[str, ...]


class Claims:
    """Keys that wait to be accepted."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(self, name: str, key: str, at: float, address: str = "") -> str:
        """Record a key of a node unless it has one already; return the key by which the node is known."""
        with changing(self._engine) as connection:
            _set_key_if_unknown(connection, PresentedKey(name, key, at, address))
            return _find_key(connection, name)

    def present(self, claim: PresentedKey, limits: Limits) -> ClaimReport:
        """Store a claim; the limits are for all servers together."""
        with changing(self._engine) as connection:
            # One at a time: two that count at once would both find space for one more.
            take_lock(connection, _LOCK)
            fresh = _save_claim(connection, claim)
            _set_key_if_unknown(connection, claim)
            _update_last_seen(connection, claim)
            dropped = _drop_excess(connection, claim, limits)
            gone = _forget_dropped(connection, dropped, claim.at)
            fresh = fresh and (claim.node, claim.key) not in dropped
            if fresh:
                data = {"key": claim.key, "fingerprint": fingerprint(claim.key), "address": claim.address}
                insert_events(connection, [Event(0, claim.at, claim.kind, claim.node, data)])
            return ClaimReport(fresh, _find_key(connection, claim.node), gone)

    def other(self, name: str, key: str, presented: OtherKey, limits: Limits = USUAL) -> None:
        """Record that a node that git knows by `key` presents another one."""
        other = msgspec.json.encode(presented).decode()
        row = to_node_row(Checkin(name, presented.at, key)) | {"other": other}
        with changing(self._engine) as connection:
            take_lock(connection, _LOCK)
            new = insert(connection, NODES).values(**row)
            connection.execute(new.on_conflict_do_update(index_elements=["node"], set_={"other": other}))
            claim = PresentedKey(name, presented.key, presented.at, presented.address)
            _save_claim(connection, claim)
            _forget_dropped(connection, _drop_excess(connection, claim, limits), claim.at)

    def settle(self, accepted: Mapping[str, str]) -> None:
        """Drop the claims whose keys git has now."""
        with reading(self._engine) as connection:
            found = connection.execute(select(CLAIMS.c.node, CLAIMS.c.key)).all()
        done = [(node, key) for node, key in found if accepted.get(node) == key]
        if done:
            with changing(self._engine) as connection:
                for node, key in done:
                    connection.execute(delete(CLAIMS).where(CLAIMS.c.node == node, CLAIMS.c.key == key))

    def prune(self, now: float, limits: Limits) -> tuple[str, ...]:
        """Drop claims that are too old; return the nodes of which nothing is known any more."""
        with changing(self._engine) as connection:
            take_lock(connection, _LOCK)
            return _forget_dropped(connection, _drop_old(connection, now, limits), now)


def find_origin(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or the network of an IPv6 address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, _SITE), strict=False))


def _set_key_if_unknown(connection: Connection, claim: PresentedKey) -> None:
    """Record this key of a node that has none, for example one that was deployed to."""
    row = to_node_row(Checkin(claim.node, claim.at, claim.key, address=claim.address))
    query = insert(connection, NODES).values(**row)
    changes = {"key": claim.key, "address": claim.address}
    connection.execute(
        query.on_conflict_do_update(index_elements=["node"], set_=changes, where=NODES.c.key == "")
    )


def _update_last_seen(connection: Connection, claim: PresentedKey) -> None:
    """Set the time at which a node without reports was last seen."""
    query = update(NODES).where(NODES.c.node == claim.node, NODES.c.key == claim.key, NODES.c.last < claim.at)
    query = query.where(NODES.c.commit.is_(None), NODES.c.via.is_(None))
    connection.execute(query.values(last=claim.at, address=claim.address))


def _find_key(connection: Connection, name: str) -> str:
    return connection.execute(select(NODES.c.key).where(NODES.c.node == name)).scalar() or ""


def _save_claim(connection: Connection, claim: PresentedKey) -> bool:
    """Save a claim; return whether it is new."""
    where = (CLAIMS.c.node == claim.node, CLAIMS.c.key == claim.key)
    known = connection.execute(select(CLAIMS.c.node).where(*where)).first() is not None
    changes = {
        "last": claim.at,
        "address": claim.address,
        "origin": find_origin(claim.address),
        "described": int(claim.described),
    }
    if known:
        connection.execute(update(CLAIMS).where(*where).values(**changes))
    else:
        row = {"node": claim.node, "key": claim.key, "first": claim.at}
        connection.execute(insert(connection, CLAIMS).values(**row, **changes))
    return not known


def _drop_excess(connection: Connection, claim: PresentedKey, limits: Limits) -> _Dropped:
    """Drop claims that are too old, then the excess of the address, then that of all."""
    found = select(CLAIMS.c.node, CLAIMS.c.key)
    newest = found.order_by(CLAIMS.c.described.desc(), CLAIMS.c.last.desc(), CLAIMS.c.node, CLAIMS.c.key)
    site = newest.where(CLAIMS.c.origin == find_origin(claim.address))
    dropped = _drop_old(connection, claim.at, limits)
    for query, most in ((site, limits.each), (newest, limits.most)):
        dropped |= _drop(connection, query.offset(most).limit(_ALL))
    return dropped


def _drop_old(connection: Connection, now: float, limits: Limits) -> _Dropped:
    found = select(CLAIMS.c.node, CLAIMS.c.key)
    return _drop(connection, found.where(CLAIMS.c.last < now - limits.seconds))


def _drop(connection: Connection, query: Select[str, str]) -> _Dropped:
    """Drop claims; return for each whether git described its node when the node last presented it."""
    found: _Dropped = {}
    for node, key in connection.execute(query).all():
        gone = delete(CLAIMS).where(CLAIMS.c.node == node, CLAIMS.c.key == key)
        found[node, key] = bool(connection.execute(gone.returning(CLAIMS.c.described)).scalar())
    return found


def _forget_dropped(connection: Connection, dropped: _Dropped, at: float) -> tuple[str, ...]:
    """Replace the dropped keys of nodes by their next ones; forget nodes without one, on every server.

    Nodes that git describes, or that were deployed to, are not forgotten.
    """
    gone = []
    for (node, key), described in sorted(dropped.items()):
        row = connection.execute(select(NODES).where(NODES.c.node == node, NODES.c.key == key)).first()
        if row is None or row.commit is not None:
            continue
        following = select(CLAIMS.c.key).where(CLAIMS.c.node == node).order_by(CLAIMS.c.first).limit(1)
        another = connection.execute(following).scalar()
        if another is not None or described or row.via is not None:
            connection.execute(update(NODES).where(NODES.c.node == node).values(key=another or ""))
        else:
            gone.append(node)
    delete_nodes(connection, gone)
    insert_events(connection, [Event(0, at, FORGOTTEN, node, {}) for node in gone])
    return tuple(gone)
