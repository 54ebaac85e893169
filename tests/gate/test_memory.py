"""However many commits or refs are gone through, only so many fleets are held."""

import gc
import os
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cache import open_cache, open_read_only
from gitcfg.gate.gate import Gate
from gitcfg.gate.policy import load_administrator
from gitcfg.gate.push import AcceptedPush, Update
from gitcfg.git.repository import Config, Repository
from gitcfg.library import Fleet
from gitcfg.output.branch import follow_ref
from tests.compile.fleets import TODAY
from tests.gate.test_accepted import MAIN, NOW
from tests.output.rendered import Pool, simple

ROUNDS = 8
MOST = 3  # two that are compared, and one on the way between them or to the next two
Held = list[int]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """How many fleets there are each time that one is made, without Python's own collecting of garbage."""
    made: list[weakref.ref[Fleet]] = []
    counts: Held = []
    begin = Fleet.__init__

    def counted(self: Fleet, *said: Any, **more: Any) -> None:
        begin(self, *said, **more)
        made.append(weakref.ref(self))
        counts.append(sum(fleet() is not None for fleet in made))

    monkeypatch.setattr(Fleet, "__init__", counted)
    gc.disable()
    yield counts
    gc.enable()


def pool(place: Path, check: str = "tip") -> Pool:
    """Versions of which each has an error of its own; `main` leads to the first."""
    texts = [simple(a=f"t{number}") | {"nodes/b1.yaml": f"groups: [g{number}]\n"} for number in range(ROUNDS)]
    made = Pool(place, [simple(), *texts])
    made.git("update-ref", MAIN, made.commits[0])
    made.git("symbolic-ref", "HEAD", MAIN)
    made.git("config", "gitcfg.check", check)
    return made


def judged(pool: Pool, *updates: Update) -> int:
    """How many of the refs were looked at; each is forgotten before the next."""
    repository = Repository.served(pool.place)
    said = load_administrator(Config(repository))
    gate = Gate(repository, said, open_read_only(repository, os.geteuid()), NOW, today=TODAY)
    with gate.rulings(updates) as rulings:
        return sum(ruling.at_tip is not None for ruling in rulings)


def each_commit(pool: Pool) -> None:
    assert judged(pool, Update(MAIN, pool.commits[0], pool.commits[-1])) == 1


def each_ref(pool: Pool) -> None:
    refs = (Update(f"refs/heads/r{n}", None, commit) for n, commit in enumerate(pool.commits[1:]))
    assert judged(pool, *refs) == ROUNDS


def each_rendered(pool: Pool) -> None:
    pool.publish(0)
    pool.git("update-ref", MAIN, pool.commits[-1])
    assert len(list(follow_ref(pool.publisher(), MAIN))) == ROUNDS


def each_warmed(pool: Pool) -> None:
    repository = Repository.served(pool.place)
    refs = [Update(f"refs/heads/r{n}", None, commit) for n, commit in enumerate(pool.commits[1:])]
    accepted = AcceptedPush(repository, load_administrator(Config(repository)), refs)
    accepted.fill_cache(open_cache(repository, os.geteuid()), TODAY)


@pytest.mark.parametrize("work", [each_commit, each_ref, each_rendered, each_warmed])
def test_only_so_many_fleets_are_held(tmp_path: Path, held: Held, work: Callable[[Pool], None]) -> None:
    work(pool(tmp_path, "each" if work is each_commit else "tip"))
    assert len(held) >= ROUNDS
    assert max(held) <= MOST, held
