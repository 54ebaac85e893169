"""`gitcfg` killed at any moment: the next run says and makes what one does that nothing ever happened to."""

import fcntl
import json
import os
import shutil
import signal
import time
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from gitcfg.cli.main import run
from gitcfg.generate.options import Options
from gitcfg.generate.repository import repository
from tests.compile.fleets import TODAY
from tests.history.histories import Version, imported
from tests.output.sources import held
from tests.seeds import many, mostly_slow
from tests.work.processes import Start, Told, ended, executed, forked

SOUND = Options(seed=7, nodes=90, groups=6, features=14, sets=0.3, files=2)
WRONG = replace(SOUND, mistakes=("GC201",))


def versions() -> list[Version]:
    """A repository with an error, without it, and with some nodes less and others' settings changed."""
    wrong, right = dict(repository(WRONG)), dict(repository(SOUND))
    less = {path: text.replace("value-", "other-") for path, text in right.items()}
    gone = [path for path in sorted(less) if path.startswith("nodes/")][::3]
    less = {path: text for path, text in less.items() if path not in gone}
    return [Version([], wrong), Version([0], right), Version([1], less)]


class Home:
    """A bare repository, a folder for output, and what runs say and make that nothing happened to."""

    def __init__(self, place: Path, seed: int, start: Start) -> None:
        self.rng = Random(seed)
        self.place = place
        self.start = start
        self.commits = imported(place / "r.git", versions())
        self.cache = place / "r.git/gitcfg"
        self.seconds: dict[str, float] = {}
        self.checks: dict[str, Told] = {}
        self.renders: dict[str, Told] = {}
        self.folders: dict[str, dict[str, str]] = {}
        for what in ("check", "render") if start is forked else ():
            self.out = place / "before"
            run(self.words(what, self.commits[1]))  # here, so that what is forked need not import anything
        for commit in self.commits:
            self.out = place / commit
            self.checks[commit] = self.timed("check", commit)
            self.renders[commit] = self.timed("render", commit)
            self.folders[commit] = held(self.out)
        self.out = place / "out"

    def timed(self, what: str, commit: str) -> Told:
        """A run where nothing is kept, and how long it takes."""
        shutil.rmtree(self.cache, ignore_errors=True)
        begun = time.monotonic()
        found = self.run(what, commit)
        taken = time.monotonic() - begun
        self.seconds[what] = min(taken, self.seconds.get(what, taken))
        return found

    def words(self, what: str, commit: str) -> list[str]:
        """A command line."""
        words = ["check", "-o", "json", "--no-parsers"]
        if what == "render":
            words = ["render", "--all", "--out", str(self.out)]
        where = ["-C", str(self.place / "r.git"), "--today", TODAY.isoformat()]
        return [*where, *words, "--at", commit]

    def begun(self, what: str, commit: str) -> int:
        """A run under way."""
        return self.start(self.words(what, commit), self.place)

    def run(self, what: str, commit: str) -> Told:
        """A run that nothing happens to."""
        return ended(self.begun(what, commit), self.place)

    def killed(self, what: str, commit: str) -> bool:
        """A run that is killed; False if it was done before."""
        process = self.begun(what, commit)
        time.sleep(self.seconds[what] * self.rng.random())
        os.kill(process, signal.SIGKILL)
        if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) != -signal.SIGKILL:
            return False
        if (self.out / ".gitcfg/lock").exists():
            with (self.out / ".gitcfg/lock").open() as lock:  # its workers end with what they are at
                fcntl.flock(lock, fcntl.LOCK_EX)
        return True

    def right(self, what: str, commit: str) -> None:
        """The next run is as one that nothing happened to."""
        found = self.run(what, commit)
        if what == "check":
            assert found == self.checks[commit]
            return
        code, _, stderr = found
        assert code == self.renders[commit][0]
        if code == 0:  # while there are errors nothing is removed
            assert stderr == self.renders[commit][2]
            assert held(self.out) == self.folders[commit]
        else:
            assert held(self.out).items() >= self.folders[commit].items()
        assert os.listdir(self.out / ".gitcfg/new") == []

    def kill_again_and_again(self, times: int) -> None:
        """Until so many runs were cut short."""
        kills = 0
        while kills < times:
            for _ in range(self.rng.randrange(1, 4)):
                what = self.rng.choice(("check", "render"))
                kills += self.killed(what, self.rng.choice(self.commits))
            self.right(self.rng.choice(("check", "render")), self.rng.choice(self.commits))
            if self.rng.random() < 0.3:
                shutil.rmtree(self.cache, ignore_errors=True)
        for commit in self.commits:
            self.right("check", commit)
            self.right("render", commit)
        self.small()

    def small(self) -> None:
        """What is kept is no more than what was asked, and what killed writers left goes."""
        answers = {found.name for found in self.cache.iterdir() if not found.name.startswith("new-")}
        assert len(answers) <= 7 + 4 * len(
            self.commits
        )  # the kinds of definitions, and what was asked of each
        left = list(self.cache.glob("new-*"))
        for found in left:
            os.utime(found, (1000, 1000))
        (self.cache / self.newest(answers)).unlink()
        for commit in self.commits:
            self.right("check", commit)
            self.right("render", commit)
        assert not list(self.cache.glob("new-*"))

    def newest(self, names: set[str]) -> str:
        return max(names, key=lambda name: (self.cache / name).stat().st_mtime_ns)


@pytest.mark.slow
def test_the_run_after_a_kill_is_right(tmp_path: Path) -> None:
    home = Home(tmp_path, 1, forked)
    assert [home.checks[commit][0] for commit in home.commits] == [1, 0, 0]
    assert json.loads(home.checks[home.commits[0]][1])["findings"]
    home.kill_again_and_again(12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_slow(many(2, 1)))
def test_the_run_after_any_of_many_kills_is_right(tmp_path: Path, seed: int) -> None:
    Home(tmp_path, seed, forked).kill_again_and_again(60)


@pytest.mark.slow
def test_it_is_where_a_shell_has_started_them(tmp_path: Path) -> None:
    Home(tmp_path, 5, executed).kill_again_and_again(30)
