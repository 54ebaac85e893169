"""A deploy: nodes have their turns in threads, and everything else happens in the one that runs it."""

import queue
from collections.abc import Callable

import msgspec

from gitcfg.deploy import batches
from gitcfg.deploy.carry import program
from gitcfg.deploy.listening import Finished, Listener
from gitcfg.deploy.messages import Hello, Order
from gitcfg.deploy.outcomes import Outcome, Result
from gitcfg.deploy.reach import Network
from gitcfg.deploy.turns import (
    FAULT,
    Abandon,
    Action,
    Ended,
    Event,
    Leave,
    Plan,
    Skip,
    Start,
    State,
    Stop,
    Why,
)
from gitcfg.deploy.visit import Entering, Visit
from gitcfg.deploy.workers import Asks, Back, Interrupt, News, Workers
from gitcfg.model import GitcfgError

_TICK = 0.25
_SKIPPED = "It was not begun. {}"
_LEFT = "It was left in the middle."
_LATER = "If an installation was begun, it goes on; the next deploy tells what stands."


class Deploy:
    """A deploy that goes on until each node is done with.

    Orders are made here, one after the other, when a node has said what stands on it: as many of them are in
    memory as nodes have their turn, however many nodes there are.
    """

    def __init__(
        self,
        plan: Plan,
        network: Network,
        entering: Entering,
        orders: Callable[[str, Hello], Order],
        listener: Listener,
    ) -> None:
        self._plan = plan
        self._orders = orders
        self._listener = listener
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._workers = Workers(network, entering, self._news)
        self._visits: dict[str, Visit] = {}
        self._batches: dict[str, int] = {}
        self._results: dict[str, Result] = {}
        self._texts: dict[str, str] = {}
        self._state = State()
        self._interrupted = 0
        self._fault: BaseException | None = None

    def interrupt(self) -> None:
        """Begin nobody else; called again, leave those that are at work, too. For signal handlers."""
        self._news.put(Interrupt())

    def stop(self, why: Why, because: str) -> None:
        """Begin nobody else, since something is wrong that is no node's: a sentence says what."""
        self._news.put(Stop(why, because))

    def run(self) -> Finished:
        """Until each node is done with; a fault of gitcfg's own is raised once those at work are."""
        program()  # made once: threads that all begin by making it took 0.1 s of CPU time each
        self._state, actions = batches.begin(self._plan)
        self._act(actions)
        while not self._state.over:
            try:
                news = self._news.get(timeout=_TICK)
            except queue.Empty:
                self._listener.tick()
                continue
            self._hear(news)
        self._workers.end()
        if self._fault is not None:
            raise self._fault
        return Finished(self._results, self._state.why, self._state.because)

    def _hear(self, news: News) -> None:
        if isinstance(news, Asks):
            news.answer.put(self._ordered(news))
        elif isinstance(news, Back):
            self._back(news)
        elif isinstance(news, Interrupt):
            self._interrupted += 1
            self._step(Stop() if self._interrupted == 1 else Leave())
        elif isinstance(news, Stop):
            self._step(news)
        elif news.node in self._state.running:
            self._listener.step(news.node, news.step, news.detail)

    def _ordered(self, asks: Asks) -> Order | BaseException:
        """What cannot be ordered is told to the thread, whose node then has that as its result."""
        if self._interrupted > 1:
            return GitcfgError(_LEFT)
        try:
            return self._orders(asks.node, asks.hello)
        except GitcfgError as error:
            return error
        except OSError as error:
            return GitcfgError(f"The order cannot be made: {error.strerror or error}.")

    def _back(self, news: Back) -> None:
        result = news.result
        if isinstance(result, BaseException):
            self._fault = self._fault or result
            self._step(Stop(Why.FAULT, FAULT.format(news.node)))
            result = Result(news.node, Outcome.LOST, message=FAULT.format("this node"), hint=_LATER)
        if news.node in self._state.running:
            self._end(result)
            self._step(Ended(news.node, result.weight))

    def _end(self, result: Result) -> None:
        self._visits.pop(result.node, None)
        result = msgspec.structs.replace(
            result,
            batch=self._batches.pop(result.node, 0),
            output=self._once(result.output),
            differences={self._once(path): self._once(text) for path, text in result.differences.items()},
        )
        self._results[result.node] = result
        self._listener.ended(result)

    def _once(self, text: str) -> str:
        """What many nodes say alike is kept once."""
        return self._texts.setdefault(text, text)

    def _step(self, event: Event) -> None:
        before = self._state.because
        self._state, actions = batches.step(self._plan, self._state, event)
        if self._state.because != before:
            self._listener.stopping(self._state.because)
        self._act(actions)

    def _act(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            if isinstance(action, Start):
                self._start(action)
            elif isinstance(action, Skip):
                because = _SKIPPED.format(self._state.because)
                for name in action.nodes:
                    self._end(Result(name, Outcome.SKIPPED, message=because))
            elif isinstance(action, Abandon):
                for name in action.nodes:
                    self._end(Result(name, Outcome.LOST, message=_LEFT, hint=self._visits[name].cut()))

    def _start(self, action: Start) -> None:
        self._batches[action.node] = action.batch + 1
        self._listener.began(action.node, action.batch + 1)
        self._visits[action.node] = self._workers.begin(action.node, len(self._state.running))
