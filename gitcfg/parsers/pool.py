"""Guarded children that answer many requests at once: batches, several under way, each request for itself."""

from collections import deque
from collections.abc import Callable

from gitcfg.parsers.member import Asked, Member
from gitcfg.sandbox import Guard, Limits, wait

_BATCH = 16  # requests: 16 ms of HTCondor's parser, beside which a message costs nothing
_BATCH_SIZE = 256 << 10
_AHEAD = 2  # batches that wait for each child, so that none has to
_PATIENCE = 0.1  # seconds, until a child that says nothing is looked after
_WORTH_ANOTHER = 3  # batches waiting: less is done before another child has started


class Pool:
    """Children that run one module. Close it at the end.

    A child's death says nothing about the requests that came with others: each of those is asked again alone.
    `unwanted` tells of a request, before it is sent, that nobody needs the answer any more.
    """

    def __init__(self, module: str, limits: Limits, workers: int, unwanted: Callable[[Asked], bool]) -> None:
        self._children = [Member(Guard(module, limits)) for _ in range(workers)]
        self._unwanted = unwanted
        self._filling: list[Asked] = []
        self._size = 0
        self._ready: deque[list[Asked]] = deque()

    def begin(self) -> None:
        """Start the first child. GuardError: it cannot be."""
        self._children[0].guard.begin()

    def put(self, asked: Asked) -> None:
        """Ask, as soon as there are enough for a batch (or at `flush`) and a child is free."""
        self._filling.append(asked)
        self._size += len(asked.request)
        if len(self._filling) >= _BATCH or self._size >= _BATCH_SIZE:
            self._close_batch()

    def flush(self) -> None:
        """Ask what was put, however little it is."""
        self._close_batch()
        self.move()

    def _close_batch(self) -> None:
        if self._filling:
            self._ready.append(self._filling)
            self._filling, self._size = [], 0

    @property
    def processes(self) -> list[int]:
        """The children that there are."""
        return [child.guard.pid for child in self._children if child.guard.pid is not None]

    @property
    def full(self) -> bool:
        """Is there enough to do for all children, so that more would only take memory?"""
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
        self._filling, self._size = [], 0
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

    def _dropped(self, asked: Asked) -> bool:
        if self._unwanted(asked):
            asked.settle()
        return asked.settled

    def _worth(self, child: Member) -> bool:
        """Starting a child takes as long as some batches."""
        return child.guard.pid is not None or child is self._children[0] or len(self._ready) >= _WORTH_ANOTHER
