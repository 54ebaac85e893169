"""What is said of some nodes alone is what is said of them among all."""

from random import Random

import pytest
from msgspec.structs import replace

from gitcfg.cache import NoCache
from gitcfg.cli.nodes import errors_of
from gitcfg.generate.repository import MISTAKES, repository
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from gitcfg.model import Finding
from tests.check.rules.naive import files
from tests.check.rules.worlds import world
from tests.compile.fleets import TODAY, mixed
from tests.seeds import mostly_slow


def damaged(seed: int) -> DictTree:
    """A repository with some mistakes, of which some files may be gone."""
    rng = Random(seed)
    planted = tuple(rng.sample(sorted(MISTAKES), rng.randrange(4)))
    found = dict(repository(replace(mixed(seed), mistakes=planted, conflicts=4, features=24)))
    gone = [path for path in found if path.startswith(("features/", "groups/")) and rng.random() < 0.05]
    for path in gone:
        del found[path]
    return DictTree(found)


def fleet(tree: DictTree) -> Fleet:
    return Fleet(tree, None, TODAY, NoCache())


def facts(findings: list[Finding]) -> set[tuple[str, ...]]:
    """What they are about, for messages list the nodes."""
    return {(finding.code, finding.subjects[0]) for finding in findings}


def told(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.code, finding.message) for finding in findings}


@pytest.mark.parametrize("seed", mostly_slow(range(60)))
def test_a_part_answers_as_the_whole(seed: int) -> None:
    tree = damaged(seed)
    with fleet(tree) as whole:
        names = Random(seed).sample(list(whole), min(2, len(whole)))
        if not names:  # nothing can be asked of nobody
            return
        with fleet(tree) as other:
            part = other.only(names)
            for name in names:
                assert dict(part[name].params) == dict(whole[name].params)
                assert part[name].features == whole[name].features
                assert part[name].files == whole[name].files
                assert part[name].digest == whole[name].digest
                for param in part[name].params:
                    assert part[name].explain(param) == whole[name].explain(param)
            chosen = tuple(sorted(names))
            assert told(errors_of(part, chosen)) == told(errors_of(whole, chosen))


@pytest.mark.parametrize("seed", range(12))
def test_of_a_part_is_told_what_rules_ask_of_all(seed: int) -> None:
    """Rules count among all nodes, and something may have been decided for any."""
    tree = DictTree(files(world(seed)))
    with fleet(tree) as whole:
        names = tuple(sorted(Random(seed).sample(list(whole), min(2, len(whole)))))
        with fleet(tree) as other:
            assert told(errors_of(other.only(names), names)) == told(errors_of(whole, names))


@pytest.mark.parametrize("seed", mostly_slow(range(40)))
def test_nodes_alone_get_what_rules_bring_and_are_told_what_concerns_each(seed: int) -> None:
    """Only of what rules find of several nodes, or of others, nothing is told."""
    tree = DictTree(files(world(seed)))
    with fleet(tree) as whole, fleet(tree) as other:
        chosen = tuple(sorted(Random(seed).sample(list(whole), min(2, len(whole)))))
        alone = other.alone(chosen)
        for name in chosen:
            assert dict(alone[name].params) == dict(whole[name].params)
            assert alone[name].features == whole[name].features
            assert alone[name].digest == whole[name].digest
        found, all_found = facts(errors_of(alone, chosen)), facts(errors_of(whole, chosen))
        assert found <= all_found
        assert {code for code, *_ in all_found - found} <= {"GC401", "GC402", "GC403", "GC404", "GC408"}
