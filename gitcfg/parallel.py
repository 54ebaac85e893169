"""Forked workers: each takes items, returns answers, and ends when no more items can come."""

import gc
import os
import pickle
import select
import signal
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import chain, islice
from types import FrameType, TracebackType
from typing import Any, BinaryIO, NoReturn, TypeVar

import msgspec

from gitcfg.model import GitcfgError

_Entered = AbstractContextManager[Callable[[Any], Any]]
_END = object()
_INTERRUPTED = 130


class Answer(msgspec.Struct, frozen=True):
    """The answer to an item: a value, or an exception."""

    value: Any = None
    error: BaseException | None = None

    def result(self) -> Any:
        """Return the value, or raise the exception."""
        if self.error is not None:
            raise self.error
        return self.value


class Worker:
    """A worker, from the side of the process that started it."""

    def __init__(self, process: int, items: BinaryIO, answers: BinaryIO) -> None:
        self._process, self._items, self._answers = process, items, answers
        self.index = 0
        self.busy = False

    @classmethod
    def forked(cls, work: Callable[[], _Entered], others: Sequence["Worker"]) -> "Worker | None":
        """Return a new worker; None if there is no room for another process."""
        to_read, items = os.pipe()
        answers, to_write = os.pipe()
        try:
            process = os.fork()
        except OSError:
            process = -1
        if process == 0:
            for other in others:  # otherwise these workers would not notice their end
                other.dismiss()
            os.close(items)
            os.close(answers)
            _live(work, os.fdopen(to_read, "rb"), os.fdopen(to_write, "wb"))
        os.close(to_read)
        os.close(to_write)
        worker = cls(process, os.fdopen(items, "wb"), os.fdopen(answers, "rb"))
        if process > 0:
            return worker
        worker.dismiss()
        return None

    def fileno(self) -> int:
        """Return the descriptor that its answers come from."""
        return self._answers.fileno()

    def hand(self, index: int, item: Any) -> None:
        """Send it an item; it must be idle."""
        self.index, self.busy = index, True
        with suppress(BrokenPipeError):  # it has ended, which its answer reports
            pickle.dump(item, self._items, pickle.HIGHEST_PROTOCOL)
            self._items.flush()

    def answer(self) -> Answer:
        """Return the answer to its last item."""
        self.busy = False
        try:
            answer: Answer = pickle.load(self._answers)
        except (EOFError, pickle.UnpicklingError):
            return Answer(error=self._lost())
        return answer

    def dismiss(self) -> None:
        """Send no more items: it ends after its present one."""
        with suppress(BrokenPipeError):
            self._items.close()
        self._answers.close()

    def wait(self) -> int:
        """Wait for its end; return an exit code, or a signal as a negative number."""
        process, self._process = self._process, 0
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) if process else 0

    def _lost(self) -> GitcfgError:
        code = self.wait()
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        hint = "Perhaps the system ran out of memory: see its log." if code == -9 else ""
        return GitcfgError(f"A worker process ended {how}.", hint)


def ready(workers: Iterable[Worker]) -> list[Worker]:
    """Return the workers with an answer; wait for at least one."""
    poll, asked = select.poll(), {worker.fileno(): worker for worker in workers}
    for place in asked:
        poll.register(place, select.POLLIN)
    return [asked[place] for place, _ in poll.poll()]


def _live(work: Callable[[], _Entered], items: BinaryIO, answers: BinaryIO) -> NoReturn:
    """Run a worker. It never returns into the code of the parent process, nor runs its cleanup."""
    code = _INTERRUPTED
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    try:
        with suppress(KeyboardInterrupt, BrokenPipeError):
            _serve(work, items, answers)
            code = 0
    finally:
        os._exit(code)


def _interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """Raise KeyboardInterrupt once: a second Ctrl-C must not interrupt the cleanup after the first."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _serve(work: Callable[[], _Entered], items: BinaryIO, answers: BinaryIO) -> None:
    caught = _Caught()
    with caught, work() as do:
        while (item := _next(items)) is not _END:
            _tell(answers, _put(do, item))
    if caught.error is not None:  # the work cannot even begin
        _tell(answers, Answer(error=caught.error))


def _put(do: Callable[[Any], Any], item: Any) -> Answer:
    caught = _Caught()
    with caught:
        return Answer(do(item))
    return Answer(error=caught.error)


def _next(items: BinaryIO) -> Any:
    """Return the next item; _END if there are no more, or the parent process has ended."""
    try:
        return pickle.load(items)
    except EOFError:
        return _END


def _tell(answers: BinaryIO, answer: Answer) -> None:
    try:
        data = pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
        if answer.error is not None:
            pickle.loads(data)  # not every exception can be restored from its pickle
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        data = pickle.dumps(Answer(error=RuntimeError(f"{answer.error or error!r}, in a worker")))
    answers.write(data)
    answers.flush()


class _Caught:
    """A context that catches an exception, so that it is raised again in the process that asked."""

    error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        error.add_note("In a worker:\n" + "".join(traceback.format_exception(kind, error, trace)))
        self.error = error.with_traceback(None)
        return True


# Distribution of items over workers, with the answers in the order of the items, and few in memory.

T = TypeVar("T")
R = TypeVar("R")

Work = Callable[[], AbstractContextManager[Callable[[T], R]]]
"""A context, entered once in each worker, with the function that is applied to items."""

_AHEAD = 4  # items that a worker may get before the oldest answer is there


def spread(work: Work[T, R], items: Iterable[T], workers: int) -> Generator[R, None, None]:
    """Yield the result of the work for each item, in their order, with any number of workers.

    Items and answers are pickled; everything else is inherited from the process at the first request for an
    answer. An exception in a worker is raised here, the first one in the order of the items. A fork takes
    about 5 ms, and the transfer of an item 0.1 ms: they must be worth more. With one item, one worker, other
    threads, or no room for another process, all is done in this process.
    """
    waiting = iter(items)
    first = list(islice(waiting, 2))
    # In a child, only the thread that forked runs: a lock of another thread is never released there.
    if min(len(first), workers) < 2 or threading.active_count() > 1:
        yield from _alone(work, chain(first, waiting))
    else:
        yield from _together(work, chain(first, waiting), workers)


def _alone(work: Work[T, R], items: Iterable[T]) -> Iterator[R]:
    with work() as do:
        yield from map(do, items)


def _together(work: Work[T, R], items: Iterator[T], workers: int) -> Iterator[R]:
    team: list[Worker] = []
    gc.freeze()  # a collection in a child would write to all inherited memory, and so copy it
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
        # Before the answers are used: workers should not wait for that.
        handed += _hand_out(team, items, handed, due + _AHEAD * len(team) - handed)
        while due in early:
            yield early.pop(due).result()
            due += 1


def _hand_out(team: list[Worker], items: Iterator[Any], start: int, most: int) -> int:
    """Give each idle worker one item, so that a worker on a busy core delays no other."""
    idle = [worker for worker in team if not worker.busy]
    count = 0
    for worker, item in zip(idle, islice(items, max(0, min(most, len(idle)))), strict=False):
        worker.hand(start + count, item)
        count += 1
    return count
