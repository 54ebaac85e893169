"""Nodes' keys: those that git has accepted, and those of nodes that have only asked a server."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.explain.records import origin_record
from gitcfg.library import Fleet
from gitcfg.load.keys import fingerprint
from gitcfg.model import Origin

if TYPE_CHECKING:  # what git alone says is told without a database's library
    from gitcfg.state import NodeState


class How(StrEnum):
    """How a node is known by a key. Gone: it came, and git describes it no more.

    Another: git has one, and somebody asked by this one: it was set up anew, or is somebody else.
    """

    ACCEPTED = "accepted"
    PENDING = "pending"
    WALK_IN = "walk-in"
    GONE = "gone"
    ANOTHER = "another"

    @property
    def waits(self) -> bool:
        """Is it for somebody to accept?"""
        return self in (How.PENDING, How.ANOTHER)


class Known(msgspec.Struct, frozen=True):
    """A key. `origin` is where git has it, `state` what a node that it has not has said."""

    node: str
    key: str
    how: How
    origin: Origin | None = None
    state: "NodeState | None" = None

    @property
    def last(self) -> float | None:
        """When it came last, in seconds since the epoch."""
        if self.state is None or self.how is not How.ANOTHER or self.state.other is None:
            return self.state.last if self.state is not None else None
        return self.state.other.at

    @property
    def address(self) -> str:
        """Where it came from last."""
        if self.state is None:
            return ""
        other = self.state.other if self.how is How.ANOTHER else None
        return (other or self.state).address


def keys(fleet: Fleet, seen: Iterable["NodeState"]) -> list[Known]:
    """All keys, in order of name: those in git, then those that nodes came with and that git has not."""
    accepted = fleet.model.keys
    found = [Known(name, key.text, How.ACCEPTED, key.origin) for name, key in accepted.items()]
    for one in seen:
        if one.key and one.node not in accepted:
            found.append(Known(one.node, one.key, _how(fleet, one), None, one))
        elif one.other is not None and one.node in accepted and one.other.key != accepted[one.node].text:
            found.append(Known(one.node, one.other.key, How.ANOTHER, None, one))
    return sorted(found, key=lambda known: known.node)


def by_another(fleet: Fleet, seen: Iterable["NodeState"]) -> frozenset[str]:
    """The nodes that came with another key than git has, and not with theirs since."""
    asked = [one for one in seen if one.other is not None and one.other.at > one.last]
    return (
        frozenset(known.node for known in keys(fleet, asked) if known.how is How.ANOTHER) if asked else _NONE
    )


_NONE: frozenset[str] = frozenset()


def _how(fleet: Fleet, one: "NodeState") -> How:
    if one.node in fleet:
        return How.PENDING
    if fleet.model.settings.walk_in is not None:
        return How.WALK_IN
    return How.GONE if one.commit is not None else How.PENDING


def keys_record(found: Iterable[Known]) -> dict[str, Any]:
    """`gitcfg.keys/1`."""
    return {"schema": "gitcfg.keys/1", "keys": [_record(one) for one in found]}


def _record(one: Known) -> dict[str, Any]:
    return {
        "node": one.node,
        "state": one.how.value,
        "key": one.key,
        "fingerprint": fingerprint(one.key),
        "origin": origin_record(one.origin) if one.origin is not None else None,
        "first": one.state.first if one.state is not None else None,
        "last": one.last,
        "address": one.address,
    }
