"""Work spread over forked workers: the same answers in the same order, and nobody left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitcfg.model import GitcfgError
from gitcfg.parallel import Work, Worker, spread

WORKERS = [1, 2, 5]
PATIENCE = 10.0


@pytest.fixture(autouse=True)
def alone() -> None:
    """Nothing is forked while other threads run: those of earlier tests have to end first."""
    end = time.monotonic() + PATIENCE
    while others := [thread for thread in threading.enumerate() if thread is not threading.main_thread()]:
        assert time.monotonic() < end, f"earlier tests have left threads behind: {others}"
        time.sleep(0.01)


def plainly(do: Callable[[int], object]) -> Work[int, object]:
    @contextmanager
    def work() -> Iterator[Callable[[int], object]]:
        yield do

    return work


def slow_first(item: int) -> int:
    time.sleep(0.02 if item % 3 == 0 else 0)
    return item * item


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("count", [0, 1, 2, 7, 60])
def test_answers_come_in_order(workers: int, count: int) -> None:
    found = list(spread(plainly(slow_first), range(count), workers))
    assert found == [item * item for item in range(count)]


def test_other_processes_do_the_work() -> None:
    def slowly(item: int) -> int:
        time.sleep(0.01)
        return os.getpid()

    found = set(spread(plainly(slowly), range(20), 2))
    assert len(found) == 2
    assert os.getpid() not in found


@pytest.mark.parametrize(("count", "workers"), [(1, 4), (9, 1)])
def test_little_work_is_done_here(count: int, workers: int) -> None:
    assert set(spread(plainly(lambda item: os.getpid()), range(count), workers)) == {os.getpid()}


def test_with_other_threads_nothing_is_forked() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert set(spread(plainly(lambda item: os.getpid()), range(9), 2)) == {os.getpid()}
    finally:
        done.set()
        thread.join()


def test_without_room_for_processes_all_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "fork", fork)
    assert set(spread(plainly(lambda item: os.getpid()), range(9), 2)) == {os.getpid()}
    assert len(os.listdir("/proc/self/fd")) == before


def test_workers_inherit_what_is_known_when_the_first_answer_is_asked_for() -> None:
    known = {"a": 1}
    answers = spread(plainly(lambda item: known["a"]), range(4), 2)
    known["a"] = 2
    assert list(answers) == [2, 2, 2, 2]


def fails(item: int) -> int:
    if item in (3, 5):
        raise GitcfgError(f"no {item}", "a hint", code=4)
    return item


@pytest.mark.parametrize("workers", WORKERS)
def test_the_first_error_in_order_is_raised_here(workers: int) -> None:
    answers = spread(plainly(fails), range(50), workers)
    assert [next(answers) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(GitcfgError) as caught:
        next(answers)
    assert (caught.value.message, caught.value.hints, caught.value.code) == ("no 3", ("a hint",), 4)


class Odd(Exception):
    """One that cannot be made again from what pickle keeps of it."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


@pytest.mark.parametrize("workers", [2, 3])
def test_an_error_that_cannot_travel_is_told_all_the_same(workers: int) -> None:
    def do(item: int) -> int:
        raise Odd("strange", " thing")

    with pytest.raises(RuntimeError, match="strange thing"):
        list(spread(plainly(do), range(4), workers))


def test_where_an_error_was_raised_is_told() -> None:
    with pytest.raises(GitcfgError) as caught:
        list(spread(plainly(fails), range(9), 2))
    assert any("in fails" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("workers", WORKERS)
def test_what_cannot_begin_is_told(workers: int) -> None:
    @contextmanager
    def work() -> Iterator[Callable[[int], int]]:
        raise GitcfgError("It is closed.")
        yield abs

    with pytest.raises(GitcfgError, match=r"It is closed\."):
        list(spread(work, range(5), workers))


@pytest.mark.parametrize("workers", WORKERS)
def test_each_worker_opens_and_closes_its_own(workers: int, tmp_path: Path) -> None:
    @contextmanager
    def work() -> Iterator[Callable[[int], int]]:
        place = tmp_path / str(os.getpid())
        place.write_text("open")
        yield abs
        place.write_text("closed")

    assert list(spread(work, range(20), workers)) == list(range(20))
    assert 1 <= len(list(tmp_path.iterdir())) <= workers
    assert {place.read_text() for place in tmp_path.iterdir()} == {"closed"}


def children() -> set[int]:
    """The processes that this one has started and that are still there; other tests may have some."""
    found = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    return set(map(int, found))


def test_who_stops_listening_leaves_no_worker_behind() -> None:
    before = children()
    answers = spread(plainly(lambda item: os.getpid()), iter(range(10**9)), 2)
    workers = {next(answers) for _ in range(20)}
    answers.close()
    assert children() <= before
    assert os.getpid() not in workers


def test_items_are_taken_only_so_far_ahead() -> None:
    taken = []

    def items() -> Iterator[int]:
        for item in range(10_000):
            taken.append(item)
            yield item

    answers = spread(plainly(abs), items(), 2)
    for due in range(100):
        assert next(answers) == due
        assert len(taken) <= due + 10
    answers.close()


def test_a_worker_that_is_killed_is_told() -> None:
    def do(item: int) -> int:
        if item == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    answers = spread(plainly(do), range(50), 2)
    with pytest.raises(GitcfgError, match="ended by signal 9"):
        list(answers)


def test_an_error_of_the_items_ends_all() -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise GitcfgError("No more.")

    before = children()
    with pytest.raises(GitcfgError, match=r"No more\."):
        list(spread(plainly(abs), items(), 2))
    assert children() <= before


def test_a_large_answer_and_a_large_item_pass() -> None:
    def do(item: int) -> object:
        return "x" * item

    sizes = [1_000_000, 10, 3_000_000, 5]
    assert [len(str(text)) for text in spread(plainly(do), sizes, 2)] == sizes


KILLED = """
import os, sys, time
from contextlib import contextmanager
from gitcfg.parallel import spread
@contextmanager
def work():
    yield lambda item: (time.sleep(0.01), os.getpid())[1]
for index, process in enumerate(spread(work, iter(int, 1), 2)):
    print(process, flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_the_process_that_asked(how: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        workers = {int(process.stdout.readline()) for _ in range(10)}
        process.send_signal(how)
        # The pipe ends only when the workers, who hold it too, have ended.
        process.communicate(timeout=30)
    assert process.returncode == -how
    assert len(workers) == 2


def test_a_worker_says_how_it_ended() -> None:
    worker = Worker.forked(plainly(abs), ())
    assert worker is not None
    worker.dismiss()
    assert worker.wait() == 0
    assert worker.wait() == 0


def test_a_second_interrupt_does_not_keep_a_worker_from_cleaning_up(tmp_path: Path) -> None:
    place = tmp_path / "place"

    @contextmanager
    def work() -> Iterator[Callable[[int], object]]:
        place.mkdir(exist_ok=True)
        try:
            yield lambda item: os.kill(os.getpid(), signal.SIGINT)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            place.rmdir()

    worker = Worker.forked(work, [])
    assert worker is not None
    worker.hand(0, 0)
    with pytest.raises(GitcfgError, match="exit code 130"):
        worker.answer().result()
    assert not place.exists()
