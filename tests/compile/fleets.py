"""Random fleets, with operations that meet often, to try laws of compiling on."""

from collections.abc import Iterator
from datetime import date
from random import Random

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.generate.options import Operations, Options
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree

TODAY = date(2026, 11, 22)
_MIXED = Operations(unset=8, fact=8, default=10, null=8, remove=15, append=60, merge=60)


def mixed(seed: int) -> Options:
    """A small repository in which every operation meets every other."""
    rng = Random(seed)
    return Options(
        seed=seed,
        nodes=rng.randrange(1, 30),
        groups=8,
        features=rng.randrange(12, 25),
        parameters=rng.randrange(40, 90),
        memberships=rng.randrange(1, 4),
        include_depth=rng.randrange(1, 5),
        without=0.3,
        sets=rng.random(),
        set_size=rng.randrange(1, 8),
        set_files=0.4,
        identity=0.5,
        overrides=rng.randrange(0, 4),
        operations=_MIXED,
        files=rng.randrange(0, 4),
        secrets=rng.randrange(0, 4),
    )


def fleets(seeds: range) -> Iterator[Fleet]:
    """The fleets of these seeds."""
    for seed in seeds:
        yield compile_tree(DictTree(repository(mixed(seed))), TODAY)
