"""The effect of a commit on what a log is about."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.comparison.change import Delta, Kind, Names
from gitcfg.nodeset import fold

NO_NAMES = Names()


class NodeCount(msgspec.Struct, frozen=True):
    """So many nodes, folded."""

    nodeset: str
    count: int


class ValueChange(msgspec.Struct, frozen=True):
    """Nodes on which a parameter had one value and has another; UNSET where it is not bound, None if bare."""

    nodeset: str
    count: int
    old: Any = UNSET
    new: Any = UNSET


class Effect(msgspec.Struct, frozen=True):
    """What is not as before; `kind` says whether the thing itself came, went, or changed.

    `params` are of a node, their values; of a feature or group the operations that act, lowest first.
    `files` are the paths whose files differ. `added` and `removed` are the nodes of a feature or
    group that came and went. `values` and `declaration` are of a parameter.
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
    """A commit that changed a result, and what of it compared to its first parent."""

    commit: str
    effect: Effect


def count_nodes(names: Sequence[str]) -> NodeCount | None:
    """Return nodes as an effect tells of them, None if there are none."""
    return NodeCount(fold(names), len(names)) if names else None


def kind_of(before: bool, after: bool) -> Kind:
    """Return what happened to a thing that was there before or is there after."""
    return Kind.CHANGED if before and after else Kind.ADDED if after else Kind.REMOVED
