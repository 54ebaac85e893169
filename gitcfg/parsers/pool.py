"""A pool of child processes for parsers: batches, time limits, and what becomes of a dead child's work."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gitcfg.check.target_parsers import Meant, Question, Verdict, Verdicts
from gitcfg.sandbox import Guard, GuardError, Killed, Limits, OutOfMemory, encoded, wait

_TRIES = 4  # more, for a request whose child is killed

ALWAYS = -1
"""A rank before all others: what is asked whatever ends parsers."""


class Request:
    """A request on its way; `place` is its rank among all. In the end it has an `answer` or an `error`,
    and whoever asked is notify.
    """

    def __init__(
        self, request: bytes, place: int, notify: Callable[["Request"], None] = lambda _: None
    ) -> None:
        self.request, self.place, self._notify = request, place, notify
        self.settled = False
        self.answer: Any = None
        self.error: GuardError | None = None
        self.tries = 0

    def settle(self, answer: Any = None, error: GuardError | None = None) -> None:
        """The end of it: what it holds is not needed any more."""
        self.request = b""
        self.settled, self.answer, self.error = True, answer, error
        self._notify(self)


class Member:
    """One child and the batch that it works on."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.batch: list[Request] = []
        self._used = False

    def ask(self, batch: list[Request]) -> None:
        """Post a batch, if there is any of it."""
        if self._used and any(asked.tries for asked in batch):
            self.close()
        self.batch = batch
        if batch:
            message = msgspec.msgpack.encode([msgspec.Raw(asked.request) for asked in batch])
            try:
                self.guard.post(message)
            except GuardError as error:  # no child can be started
                self.batch = []
                for asked in batch:
                    asked.settle(error=error)

    def collected(self) -> Iterator[Request]:
        """Settle what is answered. What has to be asked once more, each alone, is given, the last first."""
        if not self.batch:
            return
        try:
            message = self.guard.answer()
        except GuardError as error:
            yield from self._failed(error)
            return
        if message is not None:
            batch, self.batch, self._used = self.batch, [], True
            for asked, answer in zip(batch, msgspec.msgpack.decode(message), strict=True):
                asked.settle(answer)

    def _failed(self, error: GuardError) -> list[Request]:
        batch, self.batch = self.batch, []
        used, self._used = self._used, False
        if len(batch) > 1:
            return batch[::-1]
        (asked,) = batch
        # Want of memory may be others' fault, and SIGKILL nobody's: a new child has the last word.
        if (isinstance(error, OutOfMemory) and used) or (isinstance(error, Killed) and asked.tries < _TRIES):
            asked.tries += 1
            return [asked]
        asked.settle(error=error)
        return []

    def close(self) -> None:
        self.guard.close()
        self.batch, self._used = [], False


# Guarded children that answer many requests at once: batches, several under way, each request for itself.

_BATCH = 16  # requests: 16 ms of HTCondor's parser, beside which a message costs nothing
_BATCH_SIZE = 256 << 10
_AHEAD = 2  # batches that wait for each child, so that none has to
_PATIENCE = 0.1  # seconds, until a child that says nothing is looked after
_WORTH_ANOTHER = 3  # batches waiting: less is done before another child has started


class Pool:
    """Children that run one module. Close it at the end.

    A child's death says nothing about the requests that came with others: each of those is asked again alone.
    `is_unwanted` tells of a request, before it is sent, that nobody needs the answer any more.
    """

    def __init__(
        self, module: str, limits: Limits, workers: int, is_unwanted: Callable[[Request], bool]
    ) -> None:
        self._children = [Member(Guard(module, limits)) for _ in range(workers)]
        self._is_unwanted = is_unwanted
        self._next_batch: list[Request] = []
        self._size = 0
        self._ready: deque[list[Request]] = deque()

    def begin(self) -> None:
        """Start the first child. GuardError: it cannot be."""
        self._children[0].guard.begin()

    def put(self, asked: Request) -> None:
        """Ask, as soon as there are enough for a batch (or at `flush`) and a child is free."""
        self._next_batch.append(asked)
        self._size += len(asked.request)
        if len(self._next_batch) >= _BATCH or self._size >= _BATCH_SIZE:
            self._close_batch()

    def flush(self) -> None:
        """Ask what was put, however little it is."""
        self._close_batch()
        self.move()

    def _close_batch(self) -> None:
        if self._next_batch:
            self._ready.append(self._next_batch)
            self._next_batch, self._size = [], 0

    @property
    def processes(self) -> list[int]:
        """The children that there are."""
        return [child.guard.pid for child in self._children if child.guard.pid is not None]

    @property
    def full(self) -> bool:
        """Return whether all children have enough to do, so that more would only take memory."""
        return len(self._ready) >= _AHEAD * len(self._children)

    def wait(self) -> None:
        """Go on with what is under way, waiting a little if nothing can."""
        self.move()
        busy = [child.guard for child in self._children if child.batch]
        if busy:
            wait(busy, _PATIENCE)
            self.move()
        else:
            self.flush()

    def drop(self) -> None:
        """Forget what is under way: nobody will ask for it."""
        self._next_batch, self._size = [], 0
        self._ready.clear()
        for child in self._children:
            if child.batch:
                child.close()

    def close(self) -> None:
        """End all children. A later request starts others."""
        for child in self._children:
            child.close()

    def move(self) -> None:
        """Take the answers that are there, and give whoever is free more to do."""
        for child in self._children:
            for asked in child.collected():
                self._ready.appendleft([asked])
        for child in self._children:
            while self._ready and not child.batch and self._worth(child):
                child.ask([asked for asked in self._ready.popleft() if not self._dropped(asked)])

    def _dropped(self, asked: Request) -> bool:
        if self._is_unwanted(asked):
            asked.settle()
        return asked.settled

    def _worth(self, child: Member) -> bool:
        """Starting a child takes as long as some batches."""
        return child.guard.pid is not None or child is self._children[0] or len(self._ready) >= _WORTH_ANOTHER


# What a child is asked about a text, and what its answers say.


def written(text: str) -> bytes:
    """Return whether an HTCondor text is read as it is written. Raise GuardError if it cannot be sent."""
    return encoded({"written": text})


def whole(question: Question) -> bytes:
    """What is wrong with a text in a format, beside what it was written from? GuardError: it cannot be sent.

    Values go as JSON, which knows integers of any size.
    """
    meant = question.meant() if question.meant is not None else None
    values = None if meant is None else _as_json(meant)
    apart = {}
    if meant is not None:
        lists = (name for name, value in meant.values.items() if isinstance(value, list))
        apart = {name: meant.separators.get(name) for name in lists}
    return encoded({"format": question.format, "text": question.text, "values": values, "separators": apart})


def look(wanted: str) -> bytes:
    """Return whether HTCondor's parser is there (`condor`), and can write out what it read (`table`)."""
    return encoded({"look": wanted})


def key(request: bytes, version: bytes) -> bytes:
    """Return what a request is known by, for one version of the parsers."""
    return hashlib.sha256(version + request).digest()


def verdicts(found: Any) -> Verdicts:
    """Return what is wrong, as a child says it."""
    return tuple(
        Verdict(reason, line, tuple(params), hint, grave) for reason, line, params, hint, grave in found
    )


def _as_json(meant: Meant) -> bytes:
    try:
        return msgspec.json.encode(meant.values)
    except UnicodeEncodeError as error:
        raise GuardError(f"cannot be given a value: {error}") from error
