"""The records of the state database. Times are seconds since the epoch."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.rollout import Plan, Progress


class Role(StrEnum):
    """What who holds a token may do: look, or also resume and abort releases."""

    READ = "read"
    OPERATE = "operate"


class Result(msgspec.Struct, frozen=True):
    """How an installation went: ok, unchanged, refused, reverted or failed. `output` is its end."""

    commit: str
    outcome: str
    at: float
    step: str = ""
    output: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Does the node not run the commit because of it?"""
        return self.outcome not in ("ok", "unchanged")


class Checkin(msgspec.Struct, frozen=True):
    """What a node says of itself. `nonce` is used once, under `key`, the public key of what signed it."""

    node: str
    at: float
    key: str = ""
    nonce: str = ""
    commit: str | None = None
    digest: str | None = None
    since: float | None = None
    result: Result | None = None
    drift: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, Any] = {}
    version: str = ""
    clock_offset: float = 0.0
    interval: float = 0.0
    address: str = ""


class OtherKey(msgspec.Struct, frozen=True):
    """A key by which somebody asked for a node that git knows by another one."""

    key: str
    at: float
    address: str = ""


class NodeState(msgspec.Struct, frozen=True):
    """What is known of a node: `first` and `last` seen, and `present` since when without a gap.

    `failed_commit` is what it failed at last, at `failed_at`. `other` is what it came with last that git
    does not take: it was set up anew, or somebody else says to be it.
    """

    node: str
    first: float
    last: float
    present: float
    key: str = ""
    commit: str | None = None
    digest: str | None = None
    since: float | None = None
    result: Result | None = None
    failed_commit: str | None = None
    failed_at: float | None = None
    drift: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, Any] = {}
    version: str = ""
    clock_offset: float = 0.0
    interval: float = 0.0
    address: str = ""
    other: OtherKey | None = None


class StoredRelease(msgspec.Struct, frozen=True):
    """A release as it is kept. `base` is what ran before it; `revision` counts its changes."""

    commit: str
    base: str | None
    created: float
    plan: Plan
    progress: Progress
    back: bool = False
    revision: int = 0


class Token(msgspec.Struct, frozen=True):
    """A token without the token itself: of that only a hash is kept."""

    name: str
    role: Role
    created: float
    used: float | None = None


class Event(msgspec.Struct, frozen=True):
    """Something that happened; numbers rise in the order in which events can be read."""

    number: int
    at: float
    kind: str
    node: str
    data: Mapping[str, Any]
