"""The properties of a random repository: sizes, shares and weights."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from gitcfg.model import GitcfgError


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """How often bindings use each operation: weights, relative to those that fit the parameter's type."""

    set: float = 70
    null: float = 3
    append: float = 40
    prepend: float = 10
    remove: float = 6
    conjunction: float = 25
    disjunction: float = 10
    merge: float = 50
    unset: float = 1
    default: float = 4
    fact: float = 2


class Types(msgspec.Struct, frozen=True, kw_only=True):
    """How often parameters have each type: weights; `any` is a parameter without a type."""

    string: float = 35
    integer: float = 18
    number: float = 4
    boolean: float = 10
    list: float = 12
    map: float = 3
    expression: float = 10
    path: float = 6
    any: float = 2


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """A random repository in figures: numbers of things, shares from 0 to 1, and weights.

    `features`: number of all; the last `instances` share of them are installed `instance_count` times
    at each place, the 2 x `conflicts` before those are in pairs that conflict, the rest are ordinary.
    `memberships`: number of kinds of groups; a node is in one group of each kind.
    `include_depth`: levels of ordinary features; those of the lowest include nothing, each of the
    others includes `include_fanout` of the level below.
    `group_features`, `default_features`: what a group and the default group install; dependences add to it.
    `feature_params`, `group_params`: bindings of each feature, and of each group beside its features'.
    `identity`: share of nodes and node sets with `identity_params` and `identity_features` of their own.
    `without`: share of those that remove a feature that one of their groups has.
    `sets`: share of nodes in node sets of `set_size`; `set_files`: share of these with a file of their own.
    `depends`, `conflicts`: number of pairs of features, and of pairs of parameters.
    `secrets`: number of them, and of additional parameters that are bound only to secrets.
    `overrides`: each is for one node. `subsystems`: each has some parameters.
    `files`: files of every node, written from its parameters; their formats alternate.
    `mistakes`: codes of findings (see MISTAKES); each adds one mistake, which causes that finding.
    """

    seed: int = 0
    nodes: int = 20
    groups: int = 6
    features: int = 12
    parameters: int = 60
    subsystems: int = 3
    memberships: int = 2
    include_depth: int = 3
    include_fanout: int = 2
    group_features: int = 2
    default_features: int = 1
    feature_params: int = 5
    group_params: int = 3
    identity: float = 0.2
    identity_params: int = 3
    identity_features: int = 1
    without: float = 0.05
    sets: float = 0.3
    set_size: int = 5
    set_files: float = 0.1
    depends: int = 2
    conflicts: int = 1
    operations: Operations = Operations()
    types: Types = Types()
    instances: float = 0.1
    instance_count: int = 3
    secrets: int = 0
    overrides: int = 1
    files: int = 2
    mistakes: tuple[str, ...] = ()


_SHARES = ("identity", "without", "sets", "set_files", "instances")
_POSITIVE = ("include_depth", "set_size", "instance_count")


def validate(options: Options) -> None:
    """Raise GitcfgError if no repository can have these properties."""
    for complaint in _complaints(options):
        raise GitcfgError(f"Cannot generate a repository: {complaint}.")


def _complaints(options: Options) -> Iterator[str]:
    values = msgspec.structs.asdict(options)
    for name, value in values.items():
        if isinstance(value, int | float) and name != "seed" and value < (name in _POSITIVE):
            yield f"{name} is {value}, which is too small"
    for name in _SHARES:
        if values[name] > 1:
            yield f"{name} is a share, but {values[name]} is more than 1"
    for kind in (options.operations, options.types):
        weights = msgspec.structs.astuple(kind)
        if min(weights) < 0 or not sum(weights):
            yield "a weight is negative, or all of them are 0"
    if options.groups < options.memberships:
        yield f"{options.groups} groups are too few for {options.memberships} memberships"
    if options.conflicts and options.groups < 2 * max(options.memberships, 1):
        yield "conflicts need two groups of each kind, so that no node has both sides"
    instances = round(options.instances * options.features)
    if options.features - instances < 2 * options.conflicts or options.parameters < 2 * options.conflicts:
        yield f"{options.conflicts} conflicts need more features and parameters"


# Fleets of known shape: a small one, a large one, and one with many instances on every node.

_PLAIN = Operations(append=12, conjunction=8, disjunction=2, merge=20)


def small(seed: int = 0) -> Options:
    """Return a fleet of 100 nodes of about 50 parameters each, from about 28 layers."""
    return Options(
        seed=seed,
        nodes=100,
        groups=10,
        features=31,
        parameters=90,
        memberships=2,
        include_fanout=2,
        group_features=1,
        feature_params=2,
        group_params=4,
        instances=0.03,
        operations=_PLAIN,
    )


def large(seed: int = 0) -> Options:
    """Return a fleet of 10,000 nodes of about 500 parameters each: 5 memberships, about 150 layers a node."""
    return Options(
        seed=seed,
        nodes=10_000,
        groups=100,
        features=300,
        parameters=1640,
        subsystems=20,
        memberships=5,
        include_depth=3,
        include_fanout=3,
        group_features=2,
        default_features=1,
        feature_params=5,
        group_params=16,
        identity=0.3,
        identity_params=5,
        sets=0.3,
        set_size=50,
        depends=10,
        conflicts=10,
        operations=_PLAIN,
        instances=0.01,
        overrides=20,
        files=1,
    )


def stress(seed: int = 0) -> Options:
    """Return a fleet of 2,000 nodes with 90 instances of one feature each: about 470 parameters a node."""
    return Options(
        seed=seed,
        nodes=2_000,
        groups=5,
        features=4,
        parameters=20,
        memberships=1,
        group_features=1,
        identity=0.1,
        sets=0.5,
        set_size=100,
        depends=1,
        conflicts=0,
        operations=_PLAIN,
        types=Types(map=0),
        instances=0.25,
        instance_count=90,
        overrides=2,
        files=1,
    )


PROFILES: Mapping[str, Callable[[int], Options]] = {"small": small, "large": large, "stress": stress}
