"""A check that takes over what a change cannot have touched finds what a check of everything finds."""

from pathlib import Path
from random import Random

import pytest

from gitcfg.cache import Cache, NoCache
from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet, Source
from gitcfg.model import GitcfgError
from tests.compile.fleets import TODAY
from tests.history.histories import imported
from tests.load.keeping import Dictionary
from tests.seeds import many, mostly_slow
from tests.work.answers import Said, checked
from tests.work.cases_again import BASE, CASES
from tests.work.counting import counting
from tests.work.gentle import versions


def found(source: Source, commit: str) -> Said:
    """The findings of a commit."""
    try:
        with source.at(commit) as fleet:
            return checked(fleet.checked)
    except GitcfgError as error:
        return error.message, error.hints


def looked_at(source: Source, commit: str) -> tuple[Said, int]:
    """The same, and how many classes were looked at for it."""
    with counting() as work:
        return found(source, commit), work.total("looked at")


class Way:
    """Versions as commits, with what a check of everything finds in each and what it looks at."""

    def __init__(self, folder: Path, seed: int, count: int) -> None:
        self.commits = imported(folder / "r.git", versions(seed, count))
        self.folder = folder / "r.git"
        plain = Source(Repository.open(self.folder), TODAY)
        self.whole = {commit: looked_at(plain, commit) for commit in self.commits}

    def walked(self, rng: Random, steps: int) -> tuple[int, int]:
        """Go from one to the next, and to and fro. How many classes were looked at, of how many."""
        cache, looked, most = Dictionary(), 0, 0
        for commit in [*self.commits, *rng.choices(self.commits, k=steps)]:
            source = Source(Repository.open(self.folder), TODAY, cache)
            for question in [asked for asked in cache.answers if asked.startswith("check")]:
                del cache.answers[question]  # else a commit that was checked is not checked again
            told, classes = looked_at(source, commit)
            assert told == self.whole[commit][0], commit
            looked, most = looked + classes, most + self.whole[commit][1]
        return looked, most


@pytest.mark.parametrize("seed", mostly_slow(range(4)))
def test_a_check_of_what_changed_is_one_of_everything(tmp_path: Path, seed: int) -> None:
    Way(tmp_path, seed, 6).walked(Random(seed), 4)


@pytest.mark.parametrize("seed", mostly_slow(many(600, 20)))
def test_it_is_on_many_ways(tmp_path: Path, seed: int) -> None:
    Way(tmp_path, seed, 12).walked(Random(seed), 12)


def findings(files: dict[str, str], cache: Cache) -> list[str]:
    """What is wrong, to parsers too."""
    with Fleet(DictTree(files), None, TODAY, cache) as fleet:
        return [repr(finding) for finding in fleet.all_findings]


@pytest.mark.parametrize("name", CASES)
def test_less_may_be_looked_at_than_one_would_think(name: str) -> None:
    before, change = CASES[name]
    files, cache = BASE | before, Dictionary()
    findings(files, cache)
    assert findings(files | change, cache) == findings(files | change, NoCache())
