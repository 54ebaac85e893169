"""A fleet without any tool's format: what there is and what each layer says, as plain data."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from bench.fleet.options import Options

Scalar: TypeAlias = str | int | float | bool
DEFAULT = "default"


class Parameter(msgspec.Struct, frozen=True):
    """A declaration; only gitcfg can say one."""

    name: str
    type: str
    default: Scalar | None = None
    schema: Mapping[str, Scalar] | None = None
    must_change: bool = False
    depends: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class Feature(msgspec.Struct, frozen=True):
    """A named layer that includes others, highest priority first, and stands above them."""

    name: str
    include: tuple[str, ...]
    params: Mapping[str, Scalar]
    depends: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class Group(msgspec.Struct, frozen=True):
    """A set of nodes with features, highest priority first. A node is in one group of each kind."""

    name: str
    kind: int
    features: tuple[str, ...]
    params: Mapping[str, Scalar]


class Node(msgspec.Struct, frozen=True):
    """A node: groups of highest priority first, one of each kind in order, and what is its own."""

    name: str
    groups: tuple[str, ...]
    features: tuple[str, ...]
    params: Mapping[str, Scalar]


class NodeSet(msgspec.Struct, frozen=True):
    """Alike nodes as one definition, named in the notation of node sets; only gitcfg can say it."""

    name: str
    nodes: str
    groups: tuple[str, ...]
    params: Mapping[str, Scalar]


class Fleet(msgspec.Struct, frozen=True):
    """Everything. `common` are the parameters that several groups bind, so that their order decides.

    The group `default` is every node's lowest; no node names it.
    """

    options: Options
    parameters: Mapping[str, Parameter]
    features: Mapping[str, Feature]
    groups: Mapping[str, Group]
    nodes: Mapping[str, Node]
    sets: tuple[NodeSet, ...]
    common: frozenset[str]

    def memberships(self, node: Node) -> tuple[Group, ...]:
        """A node's groups with the default one, lowest first."""
        return tuple(self.groups[name] for name in (DEFAULT, *reversed(node.groups)))
