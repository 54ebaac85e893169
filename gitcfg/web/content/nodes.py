"""The contents of the page of a node."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.compile.trail import TrailStep
from gitcfg.explain.trail import Viewpoint
from gitcfg.web.content.commits import Commit
from gitcfg.web.places import SourceLinks
from gitcfg.web.row import Row

if TYPE_CHECKING:  # pages are made without a database
    from gitcfg.state import NodeState, Result


class ParameterRow(msgspec.Struct, frozen=True):
    """A parameter with all steps to its value; `withheld` are features that `without` took away."""

    name: str
    value: Any
    steps: tuple[TrailStep, ...]
    withheld: tuple[str, ...] = ()


class FileRow(msgspec.Struct, frozen=True):
    """A file that a node gets, and its sources."""

    path: str
    made_of: str


class DueActions(msgspec.Struct, frozen=True):
    """Actions due on a node before it runs what it is to run."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class NodeConfiguration(msgspec.Struct, frozen=True):
    """What git gives a node at a commit; `overrides` maps each override to when it ends."""

    view: Viewpoint
    groups: tuple[str, ...]
    features: tuple[str, ...]
    overrides: Mapping[str, str]
    params: tuple[ParameterRow, ...]
    files: tuple[FileRow, ...]
    places: SourceLinks


class NodePage(msgspec.Struct, frozen=True):
    """A node. `wanted` is the commit that it is to run; `due` the actions for that, None: unknown.

    `other` is the fingerprint of a key that it came with and that is not the one in git; "": it did not.
    `claims` are all keys that it was query for by and that git does not have.
    """

    row: Row
    wanted: Commit | None
    running: Commit | None
    back: bool
    state: "NodeState | None"
    fingerprint: str
    results: "tuple[Result, ...]"
    configured: NodeConfiguration | None
    due: DueActions | None
    other: str = ""
    claims: "tuple[ClaimedKey, ...]" = ()


class ClaimedKey(msgspec.Struct, frozen=True):
    """A key under which a node was requested: its fingerprint, when first and last, from where."""

    fingerprint: str
    first: float
    at: float
    address: str
