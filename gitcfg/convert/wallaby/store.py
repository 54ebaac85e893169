"""What a Wallaby store holds, as its dump says it."""

from collections.abc import Mapping

import msgspec


class Setting(msgspec.Struct, frozen=True):
    """What a feature or group says of a parameter: text, or None for "use its default"."""

    text: str | None


class Feature(msgspec.Struct, frozen=True):
    """A feature; `included` is in priority order, highest first."""

    name: str
    annotation: str
    included: tuple[str, ...]
    depends: tuple[str, ...]
    conflicts: tuple[str, ...]
    params: Mapping[str, Setting]


class Group(msgspec.Struct, frozen=True):
    """A group, or one node's identity; `features` is in priority order, highest first."""

    name: str
    annotation: str
    identity: bool
    features: tuple[str, ...]
    params: Mapping[str, Setting]


class Node(msgspec.Struct, frozen=True):
    """A node; `membership` is in priority order, highest first."""

    name: str
    annotation: str
    idgroup: str
    membership: tuple[str, ...]
    provisioned: bool


class Parameter(msgspec.Struct, frozen=True):
    """A parameter; nobody checked its `kind`."""

    name: str
    annotation: str
    kind: str
    default: str
    description: str
    must_change: bool
    level: int
    restart: bool
    depends: tuple[str, ...]
    conflicts: tuple[str, ...]


class Subsystem(msgspec.Struct, frozen=True):
    """A daemon with the parameters that concern it."""

    name: str
    annotation: str
    params: tuple[str, ...]


class Store(msgspec.Struct, frozen=True):
    """A whole store, each kind in the dump's order."""

    features: tuple[Feature, ...]
    groups: tuple[Group, ...]
    nodes: tuple[Node, ...]
    parameters: tuple[Parameter, ...]
    subsystems: tuple[Subsystem, ...]
