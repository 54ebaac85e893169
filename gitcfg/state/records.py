"""The records of the state database. Times are seconds since the epoch."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.rollout import Plan, Progress

INSTALLED = ("ok", "unchanged", "refused", "reverted", "failed")
"""The results of installations. A deploy can also fail before one: unreachable, host-key, timeout, ..."""


class Role(StrEnum):
    """What the holder of a token may do: read, or also control releases, forget nodes, and report deploys."""

    READ = "read"
    OPERATE = "operate"


class Result(msgspec.Struct, frozen=True):
    """The result of an installation, one of INSTALLED. `output` is the end of its output.

    `by` is the person who deployed it in `run`; both are empty if the node's agent has reported it. The
    result of a deploy may also be one without an installation.
    """

    commit: str
    outcome: str
    at: float
    step: str = ""
    output: str = ""
    seconds: float = 0.0
    by: str = ""
    run: str = ""

    @property
    def failed(self) -> bool:
        """Whether this is why the node does not run the commit."""
        return self.outcome not in ("ok", "unchanged")

    @property
    def stuck(self) -> bool:
        """Whether even the rollback failed: files may be as the record says, but what runs is unknown."""
        return self.outcome == "failed"


class Checkin(msgspec.Struct, frozen=True):
    """The report of a node. `nonce` is used once, under `key`, the public key that signed it."""

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


class Deployed(msgspec.Struct, frozen=True):
    """The result of a deploy on a node. `commit` and `digest` are active there since, if they are known.

    `agent`: the node has one, which will report itself what runs. `run` and `node` identify the result.
    """

    node: str
    result: Result
    commit: str | None = None
    digest: str | None = None
    agent: bool = False

    @property
    def installed(self) -> bool:
        """Whether there was an installation. One that was refused or has failed names the failing step."""
        result = self.result
        return result.outcome in INSTALLED and (not result.failed or bool(result.step))


class OtherKey(msgspec.Struct, frozen=True):
    """A key that a node presented although git has another one for it."""

    key: str
    at: float
    address: str = ""


class Claim(msgspec.Struct, frozen=True):
    """A key that a node presented and that git did not have: when first and last, and from where."""

    key: str
    first: float
    at: float
    address: str = ""


class NodeState(msgspec.Struct, frozen=True):
    """What is known of a node: `first` and `last` seen, and `present` since when without a gap.

    `failed_commit` is the last commit at which it failed, at `failed_at`. `other` is the last key that it
    presented and that git does not accept: the node was set up again, or another machine uses its name. `via`
    is the person who deployed what it runs; None: its agent has reported it. `deployed` is when it was last
    deployed to. `claims` are all keys that it presented and that git did not have, in the order in which it
    did.
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
    via: str | None = None
    deployed: float | None = None
    claims: tuple[Claim, ...] = ()

    @property
    def agentless(self) -> bool:
        """Whether it is known by deploys alone: it never checks in, so it is never away."""
        return self.via is not None and not self.interval

    @property
    def stuck(self) -> bool:
        """Whether what it runs is unknown, until an installation ends otherwise."""
        return self.result is not None and self.result.stuck


class StoredRelease(msgspec.Struct, frozen=True):
    """A release as it is stored. `base` is what ran before it; `revision` counts its changes."""

    commit: str
    base: str | None
    created: float
    plan: Plan
    progress: Progress
    back: bool = False
    revision: int = 0


class Token(msgspec.Struct, frozen=True):
    """The record of a token: only a hash of the token itself is stored."""

    name: str
    role: Role
    created: float
    used: float | None = None


class Event(msgspec.Struct, frozen=True):
    """An event; numbers increase in the order in which events become readable."""

    number: int
    at: float
    kind: str
    node: str
    data: Mapping[str, Any]
