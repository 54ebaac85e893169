"""The effect of a commit on the subject of a log."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.comparison.change import Delta, Kind, Names
from gitcfg.nodeset import fold

NO_NAMES = Names()


class NodeCount(msgspec.Struct, frozen=True):
    """A number of nodes, with their folded names."""

    nodeset: str
    count: int


class ValueChange(msgspec.Struct, frozen=True):
    """Nodes on which a parameter's value changed; UNSET: it is not bound, None: it is bound without value."""

    nodeset: str
    count: int
    old: Any = UNSET
    new: Any = UNSET


class Effect(msgspec.Struct, frozen=True):
    """What changed; `kind` says whether the thing itself was added, removed, or changed.

    `params` are values of a node; for a feature or group, the effective operations, lowest first. `files` are
    the paths whose files differ. `added` and `removed` are nodes that a feature or group gained and lost.
    `values` and `declaration` are those of a parameter.
    """

    kind: Kind
    params: Mapping[str, Delta] = {}
    files: tuple[str, ...] = ()
    features: Names = NO_NAMES
    groups: Names = NO_NAMES
    added: NodeCount | None = None
    removed: NodeCount | None = None
    values: tuple[ValueChange, ...] = ()
    declaration: Mapping[str, Delta] = {}


class Step(msgspec.Struct, frozen=True):
    """A commit that changed a result, and what it changed compared to its first parent."""

    commit: str
    effect: Effect


def count_nodes(names: Sequence[str]) -> NodeCount | None:
    """Return the count of nodes for an effect; None if there are no nodes."""
    return NodeCount(fold(names), len(names)) if names else None


def kind_of(before: bool, after: bool) -> Kind:
    """Return whether a thing was added, removed or changed; it exists before or after, or both."""
    return Kind.CHANGED if before and after else Kind.ADDED if after else Kind.REMOVED
