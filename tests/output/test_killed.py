"""Runs that are killed anywhere: nothing half written is ever seen, and the next run is right."""

import fcntl
import os
import random
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.output.sources import fresh, held, run
from tests.seeds import many

Fleet = dict[str, dict[str, str]]


def fleet(rng: random.Random, nodes: int) -> Fleet:
    """Some of so many nodes with some files each; contents are long enough to be seen half written."""
    texts = [letter * 9_000 + "\n" for letter in "abc"]
    return {
        f"n{number}": {
            place: rng.choice(texts)
            for place in ("/etc/a", "/etc/c.d/b 0600", f"/etc/{rng.randrange(3)}/x")
            if rng.random() < 0.7
        }
        for number in range(nodes)
        if rng.random() < 0.9
    }


def begun(top: Path, said: Fleet, workers: int) -> int:
    """A run in a process of its own."""
    process = os.fork()
    if process == 0:
        try:
            run(top, said, workers=workers)
        finally:
            os._exit(0)
    return process


def span(top: Path, said: Fleet, workers: int) -> float:
    """How many seconds a run takes that is not killed."""
    start = time.monotonic()
    os.waitpid(begun(top, said, workers), 0)
    return time.monotonic() - start


def killed(top: Path, said: Fleet, workers: int, after: float) -> None:
    """A run that is killed after so many seconds."""
    process = begun(top, said, workers)
    time.sleep(after)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    with (top / ".gitcfg/lock").open() as lock:  # its workers end with what they are at
        fcntl.flock(lock, fcntl.LOCK_EX)


def whole(top: Path, fleets: list[Fleet]) -> None:
    """Every file that is seen is as one of these fleets has it."""
    known: dict[str, set[str]] = {}
    for said in fleets:
        for node, files in said.items():
            for place, text in files.items():
                path, _, mode = place.partition(" ")
                known.setdefault(node + path, set()).add(f"{mode or '0644'} {text}")
    for name, content in held(top).items():
        assert name.endswith("/") or content in known[name], name


def kill_again_and_again(home: Path, rng: random.Random, times: int, workers: int) -> None:
    """Until so many runs were killed in the middle of writing; most tries are too early or too late."""
    top = home / "out"
    fleets = [fleet(rng, 12) for _ in range(4)]
    run(top, fleets[0])
    longest = min(span(top, fleets[number % 4], workers) for number in range(1, 6))
    cut_short = 0
    while cut_short < times:
        for _ in range(rng.randrange(1, 4)):
            killed(top, rng.choice(fleets), workers, rng.random() * longest)
            whole(top, fleets)
        cut_short += (top / ".gitcfg/journal").exists()
        said = rng.choice(fleets)
        done = run(top, said)
        assert (done.changes.edited, done.changes.blocked, done.doubts) == ((), (), ())
        assert held(top) == fresh(home / "fresh", said)
        assert sorted(os.listdir(top / ".gitcfg")) == ["lock", "manifest", "new"]
        assert os.listdir(top / ".gitcfg/new") == []
        shutil.rmtree(home / "fresh")


@pytest.mark.parametrize("workers", [1, 2])
def test_the_run_after_a_kill_is_right(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.output.folder.CHUNK", 3)
    kill_again_and_again(tmp_path, random.Random(workers), 4, workers)


@pytest.mark.slow
@pytest.mark.parametrize("seed", many(0, 2))
def test_the_run_after_any_of_hundreds_of_kills_is_right(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitcfg.output.folder.CHUNK", 1 + seed)
    kill_again_and_again(tmp_path, random.Random(100 + seed), 25, 1 + seed % 2)


def steps(top: Path, said: Mapping[str, Mapping[str, str]], number: int) -> bool:
    """Stop a run right before its so-and-so-manieth change to the folder; False if it has fewer."""
    process = os.fork()
    if process == 0:
        left = [number]

        def counted(name: str) -> None:
            real = getattr(os, name)

            def step(*words: object, **more: object) -> object:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*words, **more)

            setattr(os, name, step)

        try:
            for name in ("mkdir", "rmdir", "unlink", "replace", "write", "open", "fchmod"):
                counted(name)
            run(top, said)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


def test_the_run_after_a_kill_at_each_single_step_is_right(tmp_path: Path) -> None:
    before = {"n1": {"/etc/a": "1", "/etc/x": "1"}, "n2": {"/etc/c.d/b": "1"}, "n3": {"/a": "1"}}
    middle = {"n1": {"/etc/a": "2", "/etc/x/y": "2"}, "n2": {"/etc/new": "2"}, "n4": {"/a": "2", "/b": "2"}}
    middle["n5"] = {}
    after = {"n1": {"/etc/a": "3"}, "n4": {"/b": "1"}}
    number = 1
    while True:
        home = tmp_path / str(number)
        run(home / "out", before)
        stopped = steps(home / "out", middle, number)
        whole(home / "out", [before, middle])
        done = run(home / "out", after)
        assert (done.changes.edited, done.doubts) == ((), ())
        assert held(home / "out") == fresh(home / "fresh", after)
        if not stopped:
            break
        number += 1
    assert number > 30
