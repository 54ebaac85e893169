"""Keys that nodes come with and that git does not have: who asked by them, when and from where."""

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, ip_address, ip_network

import msgspec
from sqlalchemy import Connection, Engine, Select, delete, select, update

from gitcfg.load.keys import fingerprint
from gitcfg.state.database import alone, changing, insert, reading
from gitcfg.state.events import keep
from gitcfg.state.forgetting import FORGOTTEN, drop
from gitcfg.state.records import Checkin, Claim, Event, OtherKey
from gitcfg.state.rows import node_row
from gitcfg.state.tables import CLAIMS, NODES

PENDING, ANOTHER, WALK_IN = "pending", "another-key", "walk-in"
"""The events that tell of a key: of a node that waits, of one that has another key, of one that walks in."""
_LOCK = 0x636C6169  # "clai"
_SITE = 64
"""Who has an IPv6 address has a whole network of so many bits."""
_ALL = 1 << 31
"""SQLite takes no OFFSET without a LIMIT."""
_Dropped = dict[tuple[str, str], bool]


class Limits(msgspec.Struct, frozen=True):
    """Of the keys that git does not have so many are kept, in all and from one address, and for how long.

    The ones that came the longest ago go first, those of nodes that git does not describe before all others:
    nobody keeps a described node out by inventing names.
    """

    most: int = 1000
    each: int = 20
    seconds: float = 7 * 86400.0


USUAL = Limits()


class Presented(msgspec.Struct, frozen=True):
    """A key by which somebody asks for a node; `kind` is the event that tells of it."""

    node: str
    key: str
    at: float
    address: str = ""
    described: bool = True
    kind: str = PENDING


class Kept(msgspec.Struct, frozen=True):
    """What became of it: `known` is the key by which the node is known, "" by none; `gone` are nodes of
    which nothing is known any more, as others came.
    """

    fresh: bool
    known: str
    gone: tuple[str, ...]


class Claims:
    """What is claimed proves nothing: somebody has to agree to a key."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(self, name: str, key: str, at: float, address: str = "") -> str:
        """Know a node by a key, unless it is known by one already; the key by which it is known now."""
        with changing(self._engine) as connection:
            _claim(connection, Presented(name, key, at, address))
            return _known(connection, name)

    def present(self, said: Presented, limits: Limits) -> Kept:
        """Keep a key by which somebody asks, all within the limits, whichever server is asked."""
        with changing(self._engine) as connection:
            # One at a time: two that count at once would both find room for one more.
            alone(connection, _LOCK)
            fresh = _note(connection, said)
            _claim(connection, said)
            _refresh(connection, said)
            dropped = _over(connection, said, limits)
            gone = _let_go(connection, dropped, said.at)
            fresh = fresh and (said.node, said.key) not in dropped
            if fresh:
                data = {"key": said.key, "fingerprint": fingerprint(said.key), "address": said.address}
                keep(connection, [Event(0, said.at, said.kind, said.node, data)])
            return Kept(fresh, _known(connection, said.node), gone)

    def other(self, name: str, key: str, said: OtherKey, limits: Limits = USUAL) -> None:
        """A node that git knows by `key` comes with another one."""
        other = msgspec.json.encode(said).decode()
        row = node_row(Checkin(name, said.at, key)) | {"other": other}
        with changing(self._engine) as connection:
            alone(connection, _LOCK)
            asked = insert(connection, NODES).values(**row)
            connection.execute(asked.on_conflict_do_update(index_elements=["node"], set_={"other": other}))
            shown = Presented(name, said.key, said.at, said.address)
            _note(connection, shown)
            _let_go(connection, _over(connection, shown, limits), said.at)

    def settle(self, accepted: Mapping[str, str]) -> None:
        """Let go of the keys that git has by now."""
        with reading(self._engine) as connection:
            found = connection.execute(select(CLAIMS.c.node, CLAIMS.c.key)).all()
        done = [(node, key) for node, key in found if accepted.get(node) == key]
        if done:
            with changing(self._engine) as connection:
                for node, key in done:
                    connection.execute(delete(CLAIMS).where(CLAIMS.c.node == node, CLAIMS.c.key == key))

    def prune(self, now: float, limits: Limits) -> tuple[str, ...]:
        """Let go of the keys that came too long ago; the nodes of which nothing is known any more."""
        with changing(self._engine) as connection:
            alone(connection, _LOCK)
            return _let_go(connection, _old(connection, now, limits), now)


def claims_of(connection: Connection, names: Iterable[str] | None = None) -> dict[str, tuple[Claim, ...]]:
    """The keys by which nodes were asked for, in the order in which they came; of some nodes, or of all."""
    asked = select(CLAIMS).order_by(CLAIMS.c.node, CLAIMS.c.first, CLAIMS.c.key)
    if names is not None:
        asked = asked.where(CLAIMS.c.node.in_(list(names)))
    found: dict[str, list[Claim]] = {}
    for row in connection.execute(asked):
        found.setdefault(row.node, []).append(Claim(row.key, row.first, row.last, row.address))
    return {node: tuple(several) for node, several in found.items()}


def origin_of(address: str) -> str:
    """What counts as one address: an IPv4 address, or the network that an IPv6 address is of."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, _SITE), strict=False))


def _claim(connection: Connection, said: Presented) -> None:
    """A node that was deployed to is known by no key yet."""
    row = node_row(Checkin(said.node, said.at, said.key, address=said.address))
    asked = insert(connection, NODES).values(**row)
    changes = {"key": said.key, "address": said.address}
    connection.execute(
        asked.on_conflict_do_update(index_elements=["node"], set_=changes, where=NODES.c.key == "")
    )


def _refresh(connection: Connection, said: Presented) -> None:
    """A node that has said nothing of itself was seen last when it asked last."""
    asked = update(NODES).where(NODES.c.node == said.node, NODES.c.key == said.key, NODES.c.last < said.at)
    asked = asked.where(NODES.c.commit.is_(None), NODES.c.via.is_(None))
    connection.execute(asked.values(last=said.at, address=said.address))


def _known(connection: Connection, name: str) -> str:
    return connection.execute(select(NODES.c.key).where(NODES.c.node == name)).scalar() or ""


def _note(connection: Connection, said: Presented) -> bool:
    """Keep the key; was it not known yet?"""
    where = (CLAIMS.c.node == said.node, CLAIMS.c.key == said.key)
    known = connection.execute(select(CLAIMS.c.node).where(*where)).first() is not None
    changes = {
        "last": said.at,
        "address": said.address,
        "origin": origin_of(said.address),
        "described": int(said.described),
    }
    if known:
        connection.execute(update(CLAIMS).where(*where).values(**changes))
    else:
        row = {"node": said.node, "key": said.key, "first": said.at}
        connection.execute(insert(connection, CLAIMS).values(**row, **changes))
    return not known


def _over(connection: Connection, said: Presented, limits: Limits) -> _Dropped:
    """Drop what is too old, and what is too much: of the address, then of all."""
    found = select(CLAIMS.c.node, CLAIMS.c.key)
    newest = found.order_by(CLAIMS.c.described.desc(), CLAIMS.c.last.desc(), CLAIMS.c.node, CLAIMS.c.key)
    site = newest.where(CLAIMS.c.origin == origin_of(said.address))
    dropped = _old(connection, said.at, limits)
    for asked, most in ((site, limits.each), (newest, limits.most)):
        dropped |= _dropped(connection, asked.offset(most).limit(_ALL))
    return dropped


def _old(connection: Connection, now: float, limits: Limits) -> _Dropped:
    found = select(CLAIMS.c.node, CLAIMS.c.key)
    return _dropped(connection, found.where(CLAIMS.c.last < now - limits.seconds))


def _dropped(connection: Connection, asked: Select[str, str]) -> _Dropped:
    """Drop keys; of each, whether git described its node when it came last."""
    found: _Dropped = {}
    for node, key in connection.execute(asked).all():
        gone = delete(CLAIMS).where(CLAIMS.c.node == node, CLAIMS.c.key == key)
        found[node, key] = bool(connection.execute(gone.returning(CLAIMS.c.described)).scalar())
    return found


def _let_go(connection: Connection, dropped: _Dropped, at: float) -> tuple[str, ...]:
    """Who was known by such a key alone is known by the next one; else not at all, and every server is told.

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
    drop(connection, gone)
    keep(connection, [Event(0, at, FORGOTTEN, node, {}) for node in gone])
    return tuple(gone)
