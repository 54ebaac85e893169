"""A pool of child processes for parsers: batches, time limits, and retries after a child's death."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gitcfg.check.target_parsers import Meant, Question, Verdict, Verdicts
from gitcfg.sandbox import Guard, GuardError, Killed, Limits, OutOfMemory, encoded, wait

_TRIES = 4  # more tries for a request whose child is killed

ALWAYS = -1
"""A rank before all others: for requests that are made no matter how many parsers ended."""


class Request:
    """A request; `place` is its rank among all. In the end it has an `answer` or an `error`.

    Then `notify` is called with it.
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
        """Set the answer or the error, and release the request's content."""
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
        """Send a batch, if it is not empty."""
        if self._used and any(asked.tries for asked in batch):
            self.close()
        self.batch = batch
        if batch:
            message = msgspec.msgpack.encode([msgspec.Raw(asked.request) for asked in batch])
            try:
                self.guard.post(message)
            except GuardError as error:  # a child cannot be started
                self.batch = []
                for asked in batch:
                    asked.settle(error=error)

    def collected(self) -> Iterator[Request]:
        """Settle the requests that are answered.

        Yield those that must be sent again, each alone, the last one first.
        """
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
        # Other processes may cause a lack of memory or SIGKILL, so the result of a new child counts.
        if (isinstance(error, OutOfMemory) and used) or (isinstance(error, Killed) and asked.tries < _TRIES):
            asked.tries += 1
            return [asked]
        asked.settle(error=error)
        return []

    def close(self) -> None:
        self.guard.close()
        self.batch, self._used = [], False


# The pool: several batches are under way at once, and a child's death affects each request separately.

_BATCH = 16  # requests: 16 ms of HTCondor's parser, compared to which a message costs nothing
_BATCH_SIZE = 256 << 10
_AHEAD = 2  # batches that wait for each child, so that no child is idle
_PATIENCE = 0.1  # seconds to wait for a message before the children are checked
_WORTH_ANOTHER = 3  # waiting batches: fewer are done before another child has started


class Pool:
    """Children that run one module. Close it at the end.

    When a child dies, each request of its batch is sent again alone, since the others are not the cause.
    `is_unwanted` returns whether a request that is not sent yet is no longer needed.
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
        """Start the first child. Raise GuardError if that is not possible."""
        self._children[0].guard.begin()

    def put(self, asked: Request) -> None:
        """Send a request as soon as there are enough for a batch (or at `flush`) and a child is free."""
        self._next_batch.append(asked)
        self._size += len(asked.request)
        if len(self._next_batch) >= _BATCH or self._size >= _BATCH_SIZE:
            self._close_batch()

    def flush(self) -> None:
        """Send all waiting requests, even if they do not fill a batch."""
        self._close_batch()
        self.move()

    def _close_batch(self) -> None:
        if self._next_batch:
            self._ready.append(self._next_batch)
            self._next_batch, self._size = [], 0

    @property
    def processes(self) -> list[int]:
        """The process ids of the children that run."""
        return [child.guard.pid for child in self._children if child.guard.pid is not None]

    @property
    def full(self) -> bool:
        """Return whether all children have enough to do: more requests would only take memory."""
        return len(self._ready) >= _AHEAD * len(self._children)

    def wait(self) -> None:
        """Process answers, and wait a short time if there are none."""
        self.move()
        busy = [child.guard for child in self._children if child.batch]
        if busy:
            wait(busy, _PATIENCE)
            self.move()
        else:
            self.flush()

    def drop(self) -> None:
        """Drop all requests that are not answered."""
        self._next_batch, self._size = [], 0
        self._ready.clear()
        for child in self._children:
            if child.batch:
                child.close()

    def close(self) -> None:
        """End all children. A later request starts new ones."""
        for child in self._children:
            child.close()

    def move(self) -> None:
        """Settle the requests that are answered, and send more to the children that are free."""
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
        """Return whether a child may get a batch. To start one takes as long as some batches."""
        return child.guard.pid is not None or child is self._children[0] or len(self._ready) >= _WORTH_ANOTHER


# The requests to a child about a text, and what its answers mean.


def written(text: str) -> bytes:
    """Return the request whether HTCondor reads a text as it is written.

    Raise GuardError if it cannot be encoded.
    """
    return encoded({"written": text})


def whole(question: Question) -> bytes:
    """Return the request for the verdicts on a text, with the values that it was rendered from.

    Values are sent as JSON, which has integers of any size. Raise GuardError if it cannot be encoded.
    """
    meant = question.meant() if question.meant is not None else None
    values = None if meant is None else _as_json(meant)
    apart = {}
    if meant is not None:
        lists = (name for name, value in meant.values.items() if isinstance(value, list))
        apart = {name: meant.separators.get(name) for name in lists}
    return encoded({"format": question.format, "text": question.text, "values": values, "separators": apart})


def look(wanted: str) -> bytes:
    """Return the request whether HTCondor's parser works (`condor`), or writes out its table (`table`)."""
    return encoded({"look": wanted})


def key(request: bytes, version: bytes) -> bytes:
    """Return the key of a request, for one version of the parsers."""
    return hashlib.sha256(version + request).digest()


def verdicts(found: Any) -> Verdicts:
    """Return the verdicts in a child's answer."""
    return tuple(
        Verdict(reason, line, tuple(params), hint, grave) for reason, line, params, hint, grave in found
    )


def _as_json(meant: Meant) -> bytes:
    try:
        return msgspec.json.encode(meant.values)
    except UnicodeEncodeError as error:
        raise GuardError(f"cannot be given a value: {error}") from error
