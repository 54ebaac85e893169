"""What the pages of nodes say."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.compile.trail import TrailStep
from gitcfg.explain.trail import Viewpoint
from gitcfg.web.content.commits import Commit
from gitcfg.web.places import Places
from gitcfg.web.row import Row

if TYPE_CHECKING:  # pages are made without a database
    from gitcfg.state import NodeState, Result


class Param(msgspec.Struct, frozen=True):
    """A parameter with all steps to its value; `withheld` are features that `without` took away."""

    name: str
    value: Any
    steps: tuple[TrailStep, ...]
    withheld: tuple[str, ...] = ()


class File(msgspec.Struct, frozen=True):
    """A file that a node gets, and what it is made of."""

    path: str
    made_of: str


class Due(msgspec.Struct, frozen=True):
    """What must happen on a node before it runs what it is to run."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Configured(msgspec.Struct, frozen=True):
    """What git has a node be at a commit; `overrides` says of each until when it applies."""

    view: Viewpoint
    groups: tuple[str, ...]
    features: tuple[str, ...]
    overrides: Mapping[str, str]
    params: tuple[Param, ...]
    files: tuple[File, ...]
    places: Places


class NodePage(msgspec.Struct, frozen=True):
    """A node. `wanted` is the commit that it is to run; `due` what then happens, None: nothing is known.

    `other` is the fingerprint of a key that it came with and that is not the one in git; "": it did not.
    `claims` are all keys that it was asked for by and that git does not have.
    """

    row: Row
    wanted: Commit | None
    running: Commit | None
    back: bool
    state: "NodeState | None"
    fingerprint: str
    results: "tuple[Result, ...]"
    configured: Configured | None
    due: Due | None
    other: str = ""
    claims: "tuple[Claimed, ...]" = ()


class Claimed(msgspec.Struct, frozen=True):
    """A key by which somebody asked for a node: its fingerprint, when it came first and last, from where."""

    fingerprint: str
    first: float
    at: float
    address: str
