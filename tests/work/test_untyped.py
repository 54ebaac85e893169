"""Parameters without a type have one that follows from everything: what a check found of it is enough."""

from random import Random

import pytest
from msgspec.structs import replace

from gitcfg.cache import Cache, NoCache
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet, compare
from tests.check.test_again import edited
from tests.compile.fleets import TODAY, mixed
from tests.load.keeping import Dictionary

Files = dict[str, str]


def versions(seed: int) -> tuple[Files, Files]:
    """A repository in which many parameters have no type, and the same after some edits."""
    shape = mixed(seed)
    before = dict(repository(replace(shape, nodes=24, types=replace(shape.types, any=6))))
    after, rng = before, Random(seed)
    for _ in range(2):
        after = edited(after, rng)
    return before, after


def changes(before: Files, after: Files, cache: Cache) -> tuple[list[str], bool]:
    """What changes on nodes, and if all of them had to be compiled for that."""
    fleets = [Fleet(DictTree(files), None, TODAY, cache) for files in (before, after)]
    with fleets[0] as old, fleets[1] as new:
        found = [repr(change) for change in compare(old, new)]
        return found, old.is_compiled() and new.is_compiled()


def compared(seed: int) -> bool:
    """Compare twice, with what checks left and without. Was less compiled with it?"""
    before, after = versions(seed)
    cache = Dictionary()
    for files in (before, after):
        with Fleet(DictTree(files), None, TODAY, cache) as fleet:
            _ = fleet.findings
    plain, everything = changes(before, after, NoCache())
    known, again = changes(before, after, cache)
    assert known == plain
    return everything and not again


@pytest.mark.parametrize("seed", range(12))
def test_what_is_known_of_types_changes_no_answer(seed: int) -> None:
    compared(seed)


def test_it_spares_compiling_everything() -> None:
    """Else the law above would say nothing."""
    assert any(compared(seed) for seed in range(12))
