"""One worker or several, one child or several: the same folders, the same findings."""

import shutil
from pathlib import Path
from random import Random

import pytest

from gitcfg.check.run import check
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from gitcfg.output.folder import Scope, Stale, UpdateOutcome, UpdateRequest, update_folder
from gitcfg.output.source import Ingredients, open_fleet_source
from gitcfg.parsers import pool
from gitcfg.parsers.parsers import Parsers
from tests.compile.fleets import TODAY
from tests.load.keeping import Dictionary
from tests.output.sources import age, held
from tests.seeds import many
from tests.work.versions import Files, first, next_of

WORKERS = (1, 2, 3)


def fleet(files: Files, cache: Dictionary) -> Fleet:
    return Fleet(DictTree(files), None, TODAY, cache)


def brought(top: Path, files: Files, cache: Dictionary, workers: int) -> UpdateOutcome:
    """A folder brought up to date with a fleet."""
    with fleet(files, cache) as found:
        names = tuple(found)
        _ = found.findings  # as the command line does it first: workers inherit what is known then
        request = UpdateRequest(top, names, Scope.ALL, Stale.REMOVE, workers)
        ingredients = Ingredients(found.compiled)
        return update_folder(request, lambda: open_fleet_source(found.compiled, ingredients))


def history(seed: int, count: int) -> list[Files]:
    """Versions that say who their nodes are: others have no folder."""
    rng, found = Random(f"parallel {seed}"), [first(seed)]
    while len(found) < count:
        files = next_of(found, rng)
        if "gitcfg.yaml" in files:
            found.append(files)
    return found


def folders_are_the_same(home: Path, seed: int, count: int) -> None:
    """Version after version, by so many workers, with a cache that is kept and with none: always as fresh."""
    caches = {workers: Dictionary() for workers in WORKERS}
    for files in history(seed, count):
        outcomes = []
        for workers in WORKERS:
            top = home / str(workers)
            if (top / ".gitcfg/manifest").exists():
                age(top)
            outcomes.append(brought(top, files, caches[workers], workers).changes)
        assert outcomes[0] == outcomes[1] == outcomes[2]
        assert held(home / "1") == held(home / "2") == held(home / "3")
        if not outcomes[0].unmade:  # of those what was there before stays
            brought(home / "fresh", files, Dictionary(), 1)
            assert held(home / "fresh") == held(home / "1")
            shutil.rmtree(home / "fresh")


@pytest.fixture
def small_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few nodes are a worker's turn, so that there is work for all."""
    monkeypatch.setattr("gitcfg.output.folder.CHUNK", 3)


@pytest.mark.slow
@pytest.mark.usefixtures("small_turns")
@pytest.mark.parametrize("seed", range(3))
def test_one_worker_and_two_make_the_same_folder(tmp_path: Path, seed: int) -> None:
    folders_are_the_same(tmp_path, seed, 4)


@pytest.mark.slow
@pytest.mark.usefixtures("small_turns")
@pytest.mark.parametrize("seed", many(200, 4))
def test_they_do_for_many_fleets(tmp_path: Path, seed: int) -> None:
    folders_are_the_same(tmp_path, seed, 8)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few questions are a child's turn, so that there are questions for all."""
    monkeypatch.setattr(pool, "_BATCH", 2)
    monkeypatch.setattr(pool, "_WORTH_ANOTHER", 1)


def judged(files: Files, children: int) -> tuple[list[str], int]:
    """The findings with those of parsers, and how many children there were in the end."""
    with fleet(files, Dictionary()) as found, Parsers(children) as parsers:
        told = [repr(finding) for finding in check(found.compiled, None, found.engine, parsers)]
        return told, len(parsers._pool.processes)


def children_judge_alike(seeds: range, count: int) -> None:
    """One child, two and five; that there were so many is no matter of course."""
    most = 0
    for seed in seeds:
        for files in history(seed, count):
            (alone, _), (two, _), (many, children) = (judged(files, number) for number in (1, 2, 5))
            assert alone == two == many
            most = max(most, children)
    assert most > 1


@pytest.mark.slow
@pytest.mark.usefixtures("small_batches")
def test_one_child_and_several_judge_alike() -> None:
    children_judge_alike(range(2), 3)


@pytest.mark.slow
@pytest.mark.usefixtures("small_batches")
def test_they_do_for_many_fleets_too() -> None:
    children_judge_alike(many(300, 2), 6)
