"""Several writers, writers that are killed and disks that are full never leave half an answer."""

import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from gitcfg import cache as module
from gitcfg.cache import FolderCache

USER = os.geteuid()
WORDS = ("one", "two", "three")
LONG = 300_000


def child(work: Callable[[], None]) -> int:
    """The id of a new process that does some work and ends."""
    process = os.fork()
    if process:
        return process
    try:
        work()
        os._exit(0)
    finally:
        os._exit(1)


def ended(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def is_whole(answer: str | None) -> bool:
    return answer in [word * LONG for word in WORDS]


def write(folder: Path, word: str, questions: int, rounds: int) -> None:
    cache, answer = FolderCache(folder, USER), word * LONG
    for number in range(rounds):
        cache.put(str(number % questions), answer)


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_a_whole_answer(tmp_path: Path) -> None:
    folder, random = tmp_path / "gitcfg", Random(1)
    cache = FolderCache(folder, USER)
    cache.put("0", "one" * LONG)
    left = 0
    for kill in range(100):
        process = child(lambda kill=kill: write(folder, WORDS[kill % 3], 1, 10_000))  # type: ignore[misc]
        time.sleep(random.uniform(0.002, 0.02))
        os.kill(process, signal.SIGKILL)
        assert ended(process) == -signal.SIGKILL
        assert is_whole(cache.get("0", str))
        left = max(left, len(list(folder.glob("new-*"))))
    assert left, "no writer was killed while it wrote: the test says nothing"


def test_what_killed_writers_leave_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gitcfg"
    cache = FolderCache(folder, USER)
    cache.put("0", "one")
    for number in range(5):
        (folder / f"new-{number}").write_bytes(bytes(1000))
    monkeypatch.setattr(module, "MOST_BYTES", 3000)
    cache.put("0", "two")
    assert sum(found.stat().st_size for found in folder.iterdir()) <= 3000
    assert cache.get("0", str) == "two"


def test_two_writers_and_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gitcfg"
    monkeypatch.setattr(module, "MOST_FILES", 2)  # so that they remove each other's files, too
    writers = [child(lambda word=word: write(folder, word, 3, 40)) for word in WORDS[:2]]  # type: ignore[misc]
    cache, found = FolderCache(folder, USER), list[str]()

    def look() -> None:
        answers = (cache.get(str(number), str) for number in range(3))
        found.extend(answer for answer in answers if answer is not None)

    while os.waitpid(writers[0], os.WNOHANG) == (0, 0):
        look()
    assert ended(writers[1]) == 0
    look()  # on a busy machine the writers may have ended before the first look
    assert found
    assert all(map(is_whole, found))
    assert not list(folder.glob("new-*"))


@pytest.mark.parametrize("room", [0, 10, 4096, 65_536])
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, room: int) -> None:
    folder = tmp_path / "gitcfg"
    cache = FolderCache(folder, USER)
    cache.put("0", "one")
    before = [found.name for found in folder.iterdir()]

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        cache.put("0", "two" * LONG)
        cache.put("1", "two" * LONG)

    assert ended(child(work)) == 0
    assert [found.name for found in folder.iterdir()] == before
    assert cache.get("0", str) == "one"
    assert cache.get("1", str) is None
