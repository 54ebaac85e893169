"""Spreads items over workers and gives the answers in the order of the items, holding few of them."""

import gc
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import chain, islice
from typing import Any, TypeVar

from gitcfg.workers.worker import Answer, Worker, ready

T = TypeVar("T")
R = TypeVar("R")

Work = Callable[[], AbstractContextManager[Callable[[T], R]]]
"""Entered once in each worker, it gives the function that items are put to."""

_AHEAD = 4  # so many items a worker may be handed out before the oldest answer is there


def spread(work: Work[T, R], items: Iterable[T], workers: int) -> Generator[R, None, None]:
    """What work makes of each item, in their order, whatever the number of workers.

    Items and answers are pickled; whatever else a worker needs it inherits as it stands when the first
    answer is asked for. What work raises is raised here, the first in the order of the items. A fork costs
    some 5 ms, and an item 0.1 ms on its way: make them worth more. With one item, one worker, other threads,
    or no room for another process all is done in this process.
    """
    waiting = iter(items)
    first = list(islice(waiting, 2))
    # Only the thread that forks lives on in a child: a lock that another one holds stays locked there.
    if min(len(first), workers) < 2 or threading.active_count() > 1:
        yield from _alone(work, chain(first, waiting))
    else:
        yield from _together(work, chain(first, waiting), workers)


def _alone(work: Work[T, R], items: Iterable[T]) -> Iterator[R]:
    with work() as do:
        yield from map(do, items)


def _together(work: Work[T, R], items: Iterator[T], workers: int) -> Iterator[R]:
    team: list[Worker] = []
    gc.freeze()  # a collection in a child would write to all that it inherited, and so copy it
    try:
        while len(team) < workers and (worker := Worker.forked(work, team)) is not None:
            team.append(worker)
        yield from _answers(team, items) if team else _alone(work, items)
    finally:
        gc.unfreeze()
        for worker in team:
            worker.dismiss()
        for worker in team:
            worker.wait()


def _answers(team: list[Worker], items: Iterator[Any]) -> Iterator[Any]:
    early: dict[int, Answer] = {}
    due = handed = 0
    while True:
        handed += _hand_out(team, items, handed, due + _AHEAD * len(team) - handed)
        busy = [worker for worker in team if worker.busy]
        if not busy:
            return
        for worker in ready(busy):
            early[worker.index] = worker.answer()
        # Before anything is done with answers: nobody waits for that.
        handed += _hand_out(team, items, handed, due + _AHEAD * len(team) - handed)
        while due in early:
            yield early.pop(due).result()
            due += 1


def _hand_out(team: list[Worker], items: Iterator[Any], start: int, most: int) -> int:
    """Give each idle worker an item: one that is on a busy core then keeps nobody waiting."""
    idle = [worker for worker in team if not worker.busy]
    count = 0
    for worker, item in zip(idle, islice(items, max(0, min(most, len(idle)))), strict=False):
        worker.hand(start + count, item)
        count += 1
    return count
