"""Claims: keys that nodes come with and that git does not have, which prove nothing until one is accepted."""

from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address, ip_network

import msgspec
from sqlalchemy import Connection, Engine, Select, delete, select, update

from gitcfg.load.keys import fingerprint
from gitcfg.state.database import changing, insert, reading, take_lock
from gitcfg.state.events import insert_events
from gitcfg.state.nodes import FORGOTTEN, delete_nodes, to_node_row
from gitcfg.state.records import Checkin, Event, OtherKey
from gitcfg.state.schema import CLAIMS, NODES

PENDING, ANOTHER, WALK_IN = "pending", "another-key", "walk-in"
"""The events about a key: of a node that waits, of one with another key, of one that walks in."""
_LOCK = 0x636C6169  # "clai"
_SITE = 64
"""One site has an IPv6 network of so many bits."""
_ALL = 1 << 31
"""SQLite takes no OFFSET without a LIMIT."""
_Dropped = dict[tuple[str, str], bool]


class Limits(msgspec.Struct, frozen=True):
    """How many claims are kept, in all and from one address, and for how long.

    The oldest go first, those of nodes that git does not describe before all others: invented names
    keep no described node out.
    """

    most: int = 1000
    each: int = 20
    seconds: float = 7 * 86400.0


USUAL = Limits()


class PresentedKey(msgspec.Struct, frozen=True):
    """A key with which a node comes; `kind` is the event about it."""

    node: str
    key: str
    at: float
    address: str = ""
    described: bool = True
    kind: str = PENDING


class ClaimReport(msgspec.Struct, frozen=True):
    """What became of a claim: `known` is the key by which the node is known, or "".

    `gone` are nodes that were forgotten, as others came.
    """

    fresh: bool
    known: str
    gone: tuple[str, ...]


class Claims:
    """Keys that wait to be accepted."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(self, name: str, key: str, at: float, address: str = "") -> str:
        """Know a node by a key, unless it is known by one already; return the key by which it is known."""
        with changing(self._engine) as connection:
            _set_key_if_unknown(connection, PresentedKey(name, key, at, address))
            return _find_key(connection, name)

    def present(self, claim: PresentedKey, limits: Limits) -> ClaimReport:
        """Keep a claim, all servers together within the limits."""
        with changing(self._engine) as connection:
            # One at a time: two that count at once would both find room for one more.
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
        """Record that a node that git knows by `key` comes with another one."""
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
        """Drop the claims whose keys git has by now."""
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
    """Know the node by this key if it is known by none, as one that was deployed to."""
    row = to_node_row(Checkin(claim.node, claim.at, claim.key, address=claim.address))
    query = insert(connection, NODES).values(**row)
    changes = {"key": claim.key, "address": claim.address}
    connection.execute(
        query.on_conflict_do_update(index_elements=["node"], set_=changes, where=NODES.c.key == "")
    )


def _update_last_seen(connection: Connection, claim: PresentedKey) -> None:
    """Let a node that has reported nothing be seen last when it came last."""
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
    """Drop claims; return of each whether git described its node when it came last."""
    found: _Dropped = {}
    for node, key in connection.execute(query).all():
        gone = delete(CLAIMS).where(CLAIMS.c.node == node, CLAIMS.c.key == key)
        found[node, key] = bool(connection.execute(gone.returning(CLAIMS.c.described)).scalar())
    return found


def _forget_dropped(connection: Connection, dropped: _Dropped, at: float) -> tuple[str, ...]:
    """Know nodes by their next key once their own was dropped; forget those that have none, on every server.

    A node that git describes, or that was deployed to, stays one that came.
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
