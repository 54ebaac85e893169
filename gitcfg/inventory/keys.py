"""Nodes' keys: those accepted in git, and those that nodes have presented to a server."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.explain.trail import origin_record
from gitcfg.library import Fleet
from gitcfg.load.keys import fingerprint
from gitcfg.model import Origin

if TYPE_CHECKING:  # keys in git alone need no library of a database
    from gitcfg.state.records import NodeState


class KeyState(StrEnum):
    """The state of a node's key. Gone: the node checked in before, and git no longer describes it.

    Another: git has a different key: the node was set up again, or is another machine.
    """

    ACCEPTED = "accepted"
    PENDING = "pending"
    WALK_IN = "walk-in"
    GONE = "gone"
    ANOTHER = "another"

    @property
    def waits(self) -> bool:
        """Whether it waits to be accepted."""
        return self in (KeyState.PENDING, KeyState.ANOTHER)


class NodeKey(msgspec.Struct, frozen=True):
    """A key.

    `origin` is its place in git; `first` and `last` are when a node used one that git does not have. These
    are seconds since the epoch; `address` is the last address of the node.
    """

    node: str
    key: str
    how: KeyState
    origin: Origin | None = None
    first: float | None = None
    last: float | None = None
    address: str = ""


def list_keys(fleet: Fleet, seen: Iterable["NodeState"]) -> list[NodeKey]:
    """List all keys, in order of name: those in git, then those of nodes that git does not have."""
    accepted = fleet.model.keys
    found = [NodeKey(name, key.text, KeyState.ACCEPTED, key.origin) for name, key in accepted.items()]
    for one in seen:
        found += _list_unaccepted(fleet, one)
    return sorted(found, key=lambda key: key.node)


def _list_unaccepted(fleet: Fleet, one: "NodeState") -> list[NodeKey]:
    """Return the keys of a node that git does not have, in the order in which the node first used them."""
    git = fleet.model.keys.get(one.node)
    came = {claim.key: (claim.first, claim.at, claim.address) for claim in one.claims}
    if git is None:
        how = _find_state(fleet, one)
        own = {one.key: (one.first, one.last, one.address)} if one.key else {}
        others = KeyState.PENDING if how is KeyState.PENDING else KeyState.ANOTHER
        return [
            NodeKey(one.node, key, how if key == one.key else others, None, *visit)
            for key, visit in {**own, **came}.items()
        ]
    if one.other is not None and one.other.key not in came:
        came[one.other.key] = (one.other.at, one.other.at, one.other.address)
    return [
        NodeKey(one.node, key, KeyState.ANOTHER, None, *visit)
        for key, visit in came.items()
        if key != git.text
    ]


def find_with_other_key(fleet: Fleet, seen: Iterable["NodeState"]) -> frozenset[str]:
    """Return the nodes that used another key than git's, and not git's key since."""
    suspects = [one for one in seen if one.other is not None and one.other.at > one.last]
    keys = list_keys(fleet, suspects) if suspects else ()
    return frozenset(key.node for key in keys if key.how is KeyState.ANOTHER)


def _find_state(fleet: Fleet, one: "NodeState") -> KeyState:
    if one.node in fleet:
        return KeyState.PENDING
    if fleet.model.settings.walk_in is not None:
        return KeyState.WALK_IN
    return KeyState.GONE if one.commit is not None else KeyState.PENDING


def keys_to_json(found: Iterable[NodeKey]) -> dict[str, Any]:
    """Return keys as `gitcfg.keys/1`."""
    return {"schema": "gitcfg.keys/1", "keys": [_key_to_json(one) for one in found]}


def _key_to_json(one: NodeKey) -> dict[str, Any]:
    return {
        "node": one.node,
        "state": one.how.value,
        "key": one.key,
        "fingerprint": fingerprint(one.key),
        "origin": origin_record(one.origin) if one.origin is not None else None,
        "first": one.first,
        "last": one.last,
        "address": one.address,
    }
