"""What a process notes of its work, who hears of it, and what another process can read."""

import os
from collections.abc import Iterator

import pytest

from gitcfg import progress
from gitcfg.progress import Step


@pytest.fixture(autouse=True)
def unshared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(progress, "_board", None)
    monkeypatch.setattr(progress, "_counts", {})
    yield
    progress.listen(None)


def test_a_listener_hears_of_each_step_and_its_number() -> None:
    heard: list[Step] = []
    progress.note("reading", "a")
    progress.listen(heard.append)
    progress.note("reading", "b")
    progress.note("checking", "n1", 2)
    progress.note("reading", "c")
    progress.note("checking", "n2", 2)
    progress.note("checking", "m1", 2)  # another fleet
    progress.note("writing", total=100, done=60)
    progress.listen(None)
    progress.note("reading", "d")
    assert heard == [
        Step("reading", "b", 1, 0),
        Step("checking", "n1", 1, 2),
        Step("reading", "c", 2, 0),
        Step("checking", "n2", 2, 2),
        Step("checking", "m1", 1, 2),
        Step("writing", "", 60, 100),
    ]


def test_another_process_reads_the_last_step() -> None:
    assert progress.last() is None
    progress.share()
    assert progress.last() is None
    child = os.fork()
    if child == 0:
        progress.note("reading", "nodes/\udcff.yaml" + "é" * 5000, 7)
        os._exit(0)
    os.waitpid(child, 0)
    step = progress.last()
    assert step is not None
    assert (step.doing, step.done, step.total) == ("reading", 1, 7)
    assert step.name.startswith("nodes/\\udcff.yaml")
    heard: list[Step] = []
    progress.relay(heard.append)
    progress.relay(None)
    assert heard == [step]


def test_a_worker_does_not_draw() -> None:
    ours, theirs = os.pipe()

    def draw(step: Step) -> None:
        os.write(theirs, b"x")

    progress.listen(draw)
    child = os.fork()
    if child == 0:
        progress.note("reading")
        os._exit(0)
    os.waitpid(child, 0)
    progress.note("reading")
    assert os.read(ours, 9) == b"x"
    os.close(ours)
    os.close(theirs)
