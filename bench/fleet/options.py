"""What a fleet shall be like, and the fleets that are measured."""

from collections.abc import Mapping

import msgspec


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """A fleet in figures.

    `features`: the share `shared` of them may be anywhere, the rest belong to one kind of group each.
    `include_depth`: levels of features; those above the lowest include `include_fanout` of the level below.
    `parameters`: each feature has `feature_params` of its own; what is left is common to all groups.
    `memberships`: groups are of so many kinds in turn, and a node is in one group of each kind.
    `group_features`, `default_features`: shared features of each group and the default one.
    `group_params`: common parameters that each group binds, the default group too.
    `identity`: share of nodes with `identity_params` and `identity_features` of their own.
    `depends`, `conflicts`: so many of features and as many of parameters; all of them hold.
    `sets`: so many node sets of `set_size` nodes each, beside the nodes.
    """

    seed: int = 1
    nodes: int
    groups: int
    features: int
    parameters: int
    shared: float = 0.2
    include_depth: int = 3
    include_fanout: int = 2
    feature_params: int = 5
    memberships: int = 2
    group_features: int = 1
    default_features: int = 1
    group_params: int = 10
    identity: float = 0.3
    identity_params: int = 5
    identity_features: int = 1
    depends: int = 10
    conflicts: int = 10
    sets: int = 0
    set_size: int = 5000


# What a command takes that has nothing to do.
_ONE = Options(
    nodes=1,
    groups=2,
    features=6,
    parameters=16,
    feature_params=2,
    memberships=1,
    group_params=2,
    depends=0,
    conflicts=0,
)
_SMALL = Options(
    nodes=100,
    groups=10,
    features=31,
    parameters=90,
    shared=0.3,
    include_fanout=2,
    feature_params=2,
    group_params=8,
    identity_params=3,
    group_features=0,
    default_features=1,
    depends=2,
    conflicts=2,
)
_LARGE = Options(
    nodes=10_000,
    groups=100,
    features=300,
    parameters=1636,
    memberships=5,
    include_fanout=2,
    group_features=2,
    default_features=4,
    group_params=40,
)
# Every node has 90 startds with 5 parameters each. They are 90 features: instances of one feature are
# gitcfg's alone, and the other tools would have to be given the result.
_STRESS = Options(
    nodes=2_000,
    groups=5,
    features=93,
    parameters=491,
    shared=90 / 93,
    include_depth=1,
    memberships=1,
    group_features=0,
    default_features=90,
    group_params=10,
    identity=0.1,
    depends=2,
    conflicts=1,
)
# Fleets grown from a table of machines: each node has ten values of its own, and little in common.
_OWN = Options(
    nodes=10_000,
    groups=20,
    features=60,
    parameters=400,
    memberships=2,
    group_params=20,
    default_features=2,
    identity=1.0,
    identity_params=10,
    identity_features=0,
)


def _sized(options: Options, nodes: int) -> Options:
    return msgspec.structs.replace(options, nodes=nodes)


FLEETS: Mapping[str, Options] = {
    "one": _ONE,
    "small": _SMALL,
    "stress": _STRESS,
    "large-1000": _sized(_LARGE, 1_000),
    "large": _LARGE,
    "own": _OWN,
    "huge": _sized(_LARGE, 100_000),
    "sets": msgspec.structs.replace(_LARGE, nodes=0, sets=200),
}
