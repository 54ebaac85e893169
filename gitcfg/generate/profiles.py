"""Fleets of known shape: a small one, a large one, and one of many instances on every node."""

from collections.abc import Callable, Mapping

from gitcfg.generate.options import Operations, Options, Types

_PLAIN = Operations(append=12, conjunction=8, disjunction=2, merge=20)


def small(seed: int = 0) -> Options:
    """100 nodes of about 50 parameters each, from about 28 layers."""
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
    """10,000 nodes of about 500 parameters each: 5 memberships, about 150 layers a node."""
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
    """2,000 nodes with 90 instances of one feature each: about 470 parameters a node."""
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
