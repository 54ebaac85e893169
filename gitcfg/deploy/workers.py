"""Threads that take nodes their turns, and tell the one that runs the deploy what happens."""

import queue
import threading
from functools import partial

import msgspec

from gitcfg.deploy.messages import Hello, Order
from gitcfg.deploy.outcomes import Result
from gitcfg.deploy.reach import Network
from gitcfg.deploy.turns import Stop
from gitcfg.deploy.visit import Entering, Visit


class Step(msgspec.Struct, frozen=True):
    """What happens on a node."""

    node: str
    step: str
    detail: str


class Asks(msgspec.Struct, frozen=True):
    """A thread waits for the order to a node, or for why there is none."""

    node: str
    hello: Hello
    answer: "queue.SimpleQueue[Order | BaseException]"


class Back(msgspec.Struct, frozen=True):
    """A thread is back from a node, with its result, or with a fault of gitcfg's own."""

    node: str
    result: Result | BaseException


class Interrupt(msgspec.Struct, frozen=True):
    """Somebody wants it to end."""


News = Step | Asks | Back | Interrupt | Stop


class Workers:
    """As many threads as there ever were turns at once; each does one turn after the other."""

    def __init__(self, network: Network, entering: Entering, news: "queue.SimpleQueue[News]") -> None:
        self._network = network
        self._entering = entering
        self._news = news
        self._turns: queue.SimpleQueue[Visit | None] = queue.SimpleQueue()
        self._threads = 0

    def begin(self, node: str, running: int) -> Visit:
        """Let a node have its turn, as one of so many."""
        visit = Visit(node, self._entering, partial(self._ask, node))
        self._turns.put(visit)
        if self._threads < running:
            self._threads += 1
            # Daemons: whoever leaves nodes in the middle does not wait for what the network does then.
            threading.Thread(target=self._work, name=f"node-{self._threads}", daemon=True).start()
        return visit

    def end(self) -> None:
        """There are no more turns."""
        for _ in range(self._threads):
            self._turns.put(None)

    def _work(self) -> None:
        """A thread. What it must not end with is raised where the deploy runs."""
        while (visit := self._turns.get()) is not None:
            try:
                back: Result | BaseException = visit.go(self._network, partial(self._told, visit.node))
            except BaseException as error:
                back = error
            self._news.put(Back(visit.node, back))

    def _told(self, node: str, step: str, detail: str) -> None:
        self._news.put(Step(node, step, detail))

    def _ask(self, node: str, hello: Hello) -> Order:
        answer: queue.SimpleQueue[Order | BaseException] = queue.SimpleQueue()
        self._news.put(Asks(node, hello, answer))
        found = answer.get()
        if isinstance(found, BaseException):
            raise found
        return found
