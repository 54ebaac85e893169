"""`import condor` killed, interrupted, on a full disk: the old or the new is there, nothing half-written."""

import errno
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from gitcfg.convert.condor.htcondor import HTCondor, KnownName
from tests.seeds import many, mostly_slow

State = dict[str, bytes]
WRITES = {"os.mkdir", "os.rename", "os.chmod"}
TIDIES = {"os.remove", "os.rmdir", "shutil.rmtree", "tempfile.mkdtemp"}
OWN = {"gitcfg.yaml": b"format: 1\n", "parameters/own.yaml": b"parameters:\n  A1: {type: string}\n"}


def begin(installed: HTCondor) -> HTCondor:
    """An HTCondor that knows some names, without a process of its own."""
    installed.version = "1"
    names = [f"{letter}{number}" for letter in "ABCD" for number in range(3)]
    installed.defaults = {name.lower(): KnownName(name, "x", "string", "") for name in names}
    return installed


class Trial:
    """A folder for the repository, as it is before, and a command that fills it."""

    def __init__(self, place: Path, before: str, defaults: bool) -> None:
        self.place, self.pool = place, place / "pool"
        place.mkdir()
        for path, text in OWN.items() if before == "repository" else ():
            (self.pool / path).parent.mkdir(parents=True, exist_ok=True)
            (self.pool / path).write_bytes(text)
        if before != "nothing":
            self.pool.mkdir(exist_ok=True)
        if before in ("git", "repository"):
            subprocess.run(["git", "init", "-q", str(self.pool)], check=True)
        saved = place / "saved"
        saved.mkdir()
        for name in ("a", "b", "c"):
            (saved / name).write_text(f"A = 1\n# What {name} is.\nB = {name}\n")
        words = ["--defaults"] if defaults else ["--hosts", str(saved)]
        self.command = ["import", "condor", *words, str(self.pool)]
        self.old = self.state()

    def state(self) -> State | None:
        """The files of the folder, without hidden ones, which nobody reads; None: there is no folder."""
        if not self.pool.is_dir():
            return None
        files = {str(path.relative_to(self.pool)): path for path in sorted(self.pool.rglob("*"))}
        return {
            name: path.read_bytes()
            for name, path in files.items()
            if path.is_file() and "/." not in f"/{name}"
        }

    def forked(self, hook: Callable[[str, tuple[object, ...]], None] | None) -> int:
        """Run the command in a process that asks `hook` whenever it is about to write."""
        child = os.fork()
        if not child:
            if hook is not None:
                sys.addaudithook(hook)
            code = 99
            try:
                code = run(self.command)
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def settled(self, new: State, tidy: bool) -> bool:
        """Is it all there? AssertionError: it is half there, or cannot be had by the same command again."""
        pending = (self.pool / ".git" / "gitcfg-edit").exists()
        found = self.state()
        assert pending or found in (self.old, new), found and found.keys() ^ new.keys()
        if tidy:
            assert not pending
            assert {path.name for path in self.place.iterdir()} <= {"pool", "saved"}
            assert {path.name for path in self.pool.rglob(".*")} <= {".git", ".gitcfg"}
        assert self.forked(None) in (0, 4)
        assert self.state() == new
        return found == new or pending


def writes(event: str, arguments: tuple[object, ...]) -> bool:
    """Is a program about to change something on the disk?"""
    if event != "open":
        return event in WRITES
    file, _, flags = arguments
    changes = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    return changes and not isinstance(file, int)


def at(number: int, act: Callable[[], None]) -> Callable[[str, tuple[object, ...]], None]:
    """Do something at one write; a disk that is full is so at all later ones too, and who is killed does
    not tidy up."""
    seen = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if writes(event, arguments) or (act is kill and event in TIDIES):
            seen += 1
            if seen == number or (act is full and seen > number and event != "os.chmod"):
                act()

    return hook


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    raise KeyboardInterrupt


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


ENDS = {"killed": kill, "interrupted": interrupt, "full": full}
BEFORE = [("nothing", False), ("folder", False), ("git", False), ("nothing", True), ("repository", True)]


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """git knows who commits, and HTCondor is one that answers at once."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ann@example.org")
    monkeypatch.setattr(HTCondor, "begin", begin)
    monkeypatch.setattr(HTCondor, "read", lambda installed, texts: {})
    monkeypatch.setattr(HTCondor, "knob", lambda installed, category, name: None)


@pytest.fixture
def whole(tmp_path: Path) -> Callable[[str, bool], State]:
    """What a command makes if nothing ends it."""

    def made(before: str, defaults: bool) -> State:
        trial = Trial(tmp_path / "whole", before, defaults)
        assert run(trial.command) == 0  # in this process, so that all forks have the modules
        found = trial.state()
        assert found is not None
        assert found != trial.old
        return found

    return made


@pytest.mark.slow
@pytest.mark.parametrize(("before", "defaults"), BEFORE)
@pytest.mark.parametrize("end", ENDS)
def test_at_every_write_it_leaves_the_old_or_the_new(
    tmp_path: Path, whole: Callable[[str, bool], State], before: str, defaults: bool, end: str
) -> None:
    new = whole(before, defaults)
    left = set()
    for number in range(1, 200, 1 if end == "killed" else 3):
        trial = Trial(tmp_path / str(number), before, defaults)
        code = trial.forked(at(number, ENDS[end]))
        left.add(trial.settled(new, tidy=end != "killed"))
        if code == 0:
            break
    assert code == 0
    assert number > 5
    assert left == {False, True}


@pytest.mark.parametrize("before", ["nothing", "folder"])
def test_of_a_commit_it_is_all_there(tmp_path: Path, before: str) -> None:
    trial = Trial(tmp_path / "one", before, False)
    assert trial.forked(None) == 0
    asked = ["git", "-C", str(trial.pool), "status", "--porcelain", "--branch"]
    assert subprocess.run(asked, check=True, capture_output=True, text=True).stdout == "## main\n"
    assert trial.pool.stat().st_mode == (tmp_path / "one" / "saved").stat().st_mode


def test_below_another_repository_git_is_the_outer_one(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "one", "nothing", False)
    subprocess.run(["git", "init", "-q", str(trial.place)], check=True)
    assert trial.forked(None) == 0
    asked = ["git", "-C", str(trial.place), "ls-files"]
    listed = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
    assert listed == sorted(f"pool/{path}" for path in trial.state() or ())
    assert not (trial.pool / ".git").exists()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("a file system can be mounted by root only, and not in every container")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(("before", "defaults"), BEFORE)
def test_a_full_disk(disk: Path, whole: Callable[[str, bool], State], before: str, defaults: bool) -> None:
    new = whole(before, defaults)
    ended = set()
    for pages in (0, 1, 2, 3, 5, 8, 13, 21, 34, 300):
        trial = Trial(disk / str(pages), before, defaults)
        free = os.statvfs(disk).f_bavail - pages
        (disk / "ballast").write_bytes(bytes(free * os.statvfs(disk).f_bsize))
        done = trial.forked(None) == 0
        (disk / "ballast").unlink()
        there = trial.settled(new, tidy=True)
        assert there or not done
        ended.add(done)
    assert ended == {False, True}


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "one", "nothing", False)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    was = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40, hard))
        assert trial.forked(None) == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, was)
    assert trial.state() is None
    assert [path.name for path in trial.place.iterdir()] == ["saved"]


def killed_often(place: Path, times: int, seed: int) -> None:
    """At any moment, in git's own code too."""
    rng = random.Random(seed)
    kinds = ("nothing", "folder")
    new = {before: Trial(place / before, before, False) for before in kinds}
    start = time.monotonic()
    assert all(trial.forked(None) == 0 for trial in new.values())
    seconds = (time.monotonic() - start) / len(new)
    for number in range(times):
        before = kinds[number % 2]
        trial = Trial(place / str(number), before, False)
        child = os.fork()
        if not child:
            os._exit(run(trial.command))
        time.sleep(seconds * rng.uniform(0, 1.2))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        trial.settled(new[before].state() or {}, tidy=False)


def test_killed_at_any_moment(tmp_path: Path) -> None:
    killed_often(tmp_path, 10, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_slow(many(2, 2)))
def test_killed_often(tmp_path: Path, seed: int) -> None:
    killed_often(tmp_path, 50, seed)
