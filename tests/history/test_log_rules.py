"""Logs where rules, what was decided, and what is collected change nodes: as brute force and `diff` say."""

from collections.abc import Mapping, Set
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

import gitcfg
from gitcfg.git.history import History
from gitcfg.git.repository import Repository
from gitcfg.history.log import Question, Subject, steps
from gitcfg.library import Fleet, compare
from gitcfg.model import GitcfgError
from tests.history.histories import Version, histories, imported
from tests.history.ruled import RULED
from tests.history.runs import FEW, MANY
from tests.history.test_log import agrees, reached

NODES = ("n1", "n2", "n3", "n4", "s1", "s2")


@FEW
@given(versions=histories(extras=RULED))
def test_logs_beside_rules_agree_with_brute_force(versions: list[Version]) -> None:
    agrees(versions)


@pytest.mark.slow
@MANY
@given(versions=histories(20, 40, RULED))
def test_logs_of_long_histories_beside_rules_agree_with_brute_force(versions: list[Version]) -> None:
    agrees(versions)


@FEW
@given(versions=histories(extras=RULED))
def test_the_log_of_a_node_lists_the_commits_that_diff_says_change_it(versions: list[Version]) -> None:
    with TemporaryDirectory() as folder, ExitStack() as stack:
        path = Path(folder) / "r.git"
        ids = imported(path, versions)
        source = gitcfg.open(path)

        @cache
        def fleet(number: int) -> Fleet | None:
            try:
                return stack.enter_context(source.at(ids[number]))
            except GitcfgError:
                return None

        def changed(number: int) -> Set[str]:
            before = [fleet(parent) for parent in versions[number].parents] or [None]
            return frozenset(NODES).intersection(*(differing(each, fleet(number)) for each in before))

        nodes = {ids[number]: changed(number) for number in range(len(ids))}
        commits = History(Repository.open(path))
        for name in NODES:
            found = {step.commit for step in steps(commits, Question(Subject.NODE, name), ids[-1])}
            assert found == {one for one in reached(ids, versions) if name in nodes[one]}, name


def differing(old: Fleet | None, new: Fleet | None) -> Set[str]:
    """The nodes that differ; where there is no repository there is none."""
    if old is not None and new is not None:
        return {name for change in compare(old, new) for name in change.nodes}
    some: Mapping[str, object] = old or new or {}
    return some.keys()
