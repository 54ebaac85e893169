"""A deploy: nodes have their turns in threads, and all else happens in the thread that runs it."""

import queue
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

import msgspec

from gitcfg.deploy import batches
from gitcfg.deploy.batches import FAULT, Abandon, Action, Ended, Event, Leave, Plan, Skip, Start, State, Stop
from gitcfg.deploy.messages import Hello, Order
from gitcfg.deploy.network import Network
from gitcfg.deploy.outcomes import EndReason, Outcome, Result
from gitcfg.deploy.program import program
from gitcfg.deploy.turn import LoginOptions, Turn
from gitcfg.model import GitcfgError

_TICK = 0.25
_SKIPPED = "It was not started. {}"
_LEFT = "It was interrupted."
_LATER = "An installation that was started continues; the next deploy reports its result."


class Listener(Protocol):
    """A listener to a deploy. The thread that runs the deploy calls it, one call after the other."""

    def began(self, node: str, batch: int) -> None:
        """Handle the begin of a node's turn."""

    def step(self, node: str, step: str, detail: str) -> None:
        """Handle a step on a node."""

    def ended(self, result: Result) -> None:
        """Handle the result of a node; called once for each."""

    def stopping(self, because: str) -> None:
        """Handle that no other node begins."""

    def tick(self) -> None:
        """Handle the passing of time, with or without other events."""


class Finished(msgspec.Struct, frozen=True):
    """The end of a deploy; `results` has each of its nodes once."""

    results: Mapping[str, Result]
    why: EndReason
    because: str


class Step(msgspec.Struct, frozen=True):
    """A step on a node, from a worker."""

    node: str
    step: str
    detail: str


class OrderRequest(msgspec.Struct, frozen=True):
    """A thread waits for the order to a node, or for the reason why there is none."""

    node: str
    hello: Hello
    answer: "queue.SimpleQueue[Order | BaseException]"


class TurnEnded(msgspec.Struct, frozen=True):
    """A node's turn has ended, with its result or with an error in gitcfg itself."""

    node: str
    result: Result | BaseException


class Interrupt(msgspec.Struct, frozen=True):
    """Someone wants to end the deploy."""


News = Step | OrderRequest | TurnEnded | Interrupt | Stop


class Workers:
    """As many threads as there are turns at once; each does one turn after the other."""

    def __init__(self, network: Network, entering: LoginOptions, news: "queue.SimpleQueue[News]") -> None:
        self._network = network
        self._entering = entering
        self._news = news
        self._turns: queue.SimpleQueue[Turn | None] = queue.SimpleQueue()
        self._threads = 0

    def begin(self, node: str, running: int) -> Turn:
        """Begin a node's turn, as one of `running` turns."""
        turn = Turn(node, self._entering, partial(self._ask, node))
        self._turns.put(turn)
        if self._threads < running:
            self._threads += 1
            # Daemon threads: a deploy that abandons nodes does not wait for the network.
            threading.Thread(target=self._work, name=f"node-{self._threads}", daemon=True).start()
        return turn

    def end(self) -> None:
        """End the threads, because there are no more turns."""
        for _ in range(self._threads):
            self._turns.put(None)

    def _work(self) -> None:
        while (turn := self._turns.get()) is not None:
            try:
                result: Result | BaseException = turn.go(self._network, partial(self._report_step, turn.node))
            except BaseException as error:  # it is raised in the deploy's thread: in this one it is lost
                result = error
            self._news.put(TurnEnded(turn.node, result))

    def _report_step(self, node: str, step: str, detail: str) -> None:
        self._news.put(Step(node, step, detail))

    def _ask(self, node: str, hello: Hello) -> Order:
        answer: queue.SimpleQueue[Order | BaseException] = queue.SimpleQueue()
        self._news.put(OrderRequest(node, hello, answer))
        found = answer.get()
        if isinstance(found, BaseException):
            raise found
        return found


class Deploy:
    """A deploy that runs until each node has finished.

    Orders are made here, one after the other, once a node has reported its state: only as many of them are in
    memory as nodes have their turn, regardless of the number of nodes.
    """

    def __init__(
        self,
        plan: Plan,
        network: Network,
        entering: LoginOptions,
        orders: Callable[[str, Hello], Order],
        listener: Listener,
    ) -> None:
        self._plan = plan
        self._orders = orders
        self._listener = listener
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._workers = Workers(network, entering, self._news)
        self._running: dict[str, Turn] = {}
        self._batches: dict[str, int] = {}
        self._results: dict[str, Result] = {}
        self._texts: dict[str, str] = {}
        self._state = State()
        self._interrupted = 0
        self._fault: BaseException | None = None

    def interrupt(self) -> None:
        """Begin no other node; at the second call, abandon the running ones too. For signal handlers."""
        self._news.put(Interrupt())

    def stop(self, why: EndReason, because: str) -> None:
        """Begin no other node, because of a problem that is not a node's; `because` is a sentence."""
        self._news.put(Stop(why, because))

    def run(self) -> Finished:
        """Run until each node has finished; then raise the first error in gitcfg itself, if any."""
        program()  # made once: threads that all began by making it took 0.1 s of CPU time each
        self._state, actions = batches.begin(self._plan)
        self._act(actions)
        while not self._state.over:
            try:
                news = self._news.get(timeout=_TICK)
            except queue.Empty:
                self._listener.tick()
                continue
            self._handle(news)
        self._workers.end()
        if self._fault is not None:
            raise self._fault
        return Finished(self._results, self._state.why, self._state.because)

    def _handle(self, news: News) -> None:
        if isinstance(news, OrderRequest):
            news.answer.put(self._make_order(news))
        elif isinstance(news, TurnEnded):
            self._end_turn(news)
        elif isinstance(news, Interrupt):
            self._interrupted += 1
            self._step(Stop() if self._interrupted == 1 else Leave())
        elif isinstance(news, Stop):
            self._step(news)
        elif news.node in self._state.running:
            self._listener.step(news.node, news.step, news.detail)

    def _make_order(self, request: OrderRequest) -> Order | BaseException:
        """Make an order, or return the reason why there is none, which becomes the node's result."""
        if self._interrupted > 1:
            return GitcfgError(_LEFT)
        try:
            return self._orders(request.node, request.hello)
        except GitcfgError as error:
            return error
        except OSError as error:
            return GitcfgError(f"Cannot make the order: {error.strerror or error}.")

    def _end_turn(self, news: TurnEnded) -> None:
        result = news.result
        if isinstance(result, BaseException):
            self._fault = self._fault or result
            self._step(Stop(EndReason.FAULT, FAULT.format(news.node)))
            result = Result(news.node, Outcome.LOST, message=FAULT.format("this node"), hint=_LATER)
        if news.node in self._state.running:
            self._end(result)
            self._step(Ended(news.node, result.weight))

    def _end(self, result: Result) -> None:
        self._running.pop(result.node, None)
        result = msgspec.structs.replace(
            result,
            batch=self._batches.pop(result.node, 0),
            output=self._intern(result.output),
            differences={self._intern(path): self._intern(text) for path, text in result.differences.items()},
        )
        self._results[result.node] = result
        self._listener.ended(result)

    def _intern(self, text: str) -> str:
        """Return one copy of a text that many nodes report."""
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
                self._batches[action.node] = action.batch + 1
                self._listener.began(action.node, action.batch + 1)
                self._running[action.node] = self._workers.begin(action.node, len(self._state.running))
            elif isinstance(action, Skip):
                because = _SKIPPED.format(self._state.because)
                for name in action.nodes:
                    self._end(Result(name, Outcome.SKIPPED, message=because))
            elif isinstance(action, Abandon):
                for name in action.nodes:
                    self._end(Result(name, Outcome.LOST, message=_LEFT, hint=self._running[name].cut()))
