"""Jobs: a command on chosen nodes, with a vote first. `advance` applies events and time to a job."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from gitcfg.model import GitcfgError
from gitcfg.runs.visits import (
    FAILURES,
    UNDERWAY,
    Next,
    Outcome,
    Signal,
    State,
    Visit,
    find_next,
)

_RETRY = 2.0  # seconds until a busy node gets another offer
_KEPT = 60.0  # seconds that an agent stays ready beyond the time of the vote
_SILENT = 30.0  # the least seconds after which an abort counts as acknowledged
_BEATS = 4  # ... and the least intervals: longer than it takes to see a node down
_MINUTE = 60.0


class RunStatus(StrEnum):
    """The state of a run."""

    NEW = "new"
    VOTING = "voting"
    RUNNING = "running"
    HALTED = "halted"
    COMPLETE = "complete"
    QUORUM_FAILED = "quorum_failed"
    TIMED_OUT = "timed_out"
    ABORTED = "aborted"
    CRASHED = "crashed"

    @property
    def is_live(self) -> bool:
        """Whether the run still starts or awaits anything."""
        return self in (RunStatus.NEW, RunStatus.VOTING, RunStatus.RUNNING, RunStatus.HALTED)


class Quorum(msgspec.Struct, frozen=True):
    """How many nodes of a batch must be ready: a number, or a percentage of them, rounded up."""

    number: int | None = None
    percent: int | None = None

    def of(self, nodes: int) -> int:
        """Return how many of a number of nodes must be ready. A fixed number may be more than there are."""
        if self.number is not None:
            return self.number
        return math.ceil(nodes * (100 if self.percent is None else self.percent) / 100)


def parse_quorum(text: str) -> Quorum:
    """Parse `12`, `90%`, `all` or `0`. Raise GitcfgError if the text is something else."""
    if text == "all":
        return Quorum(percent=100)
    if re.fullmatch(r"[0-9]{1,9}", text):
        return Quorum(number=int(text))
    if re.fullmatch(r"[0-9]{1,3}%", text) and int(text[:-1]) <= 100:
        return Quorum(percent=int(text[:-1]))
    share = re.fullmatch(r"0?\.([0-9]{1,2})", text)
    meant = (
        f"Did you mean {int(share[1].ljust(2, '0'))}%?" if share else "Use a number, a percentage, or all."
    )
    raise GitcfgError(f"{text!r} is not a quorum.", meant)


class Limits(msgspec.Struct, frozen=True):
    """The limits of a job. Times are in seconds; `interval` is that of the beats.

    None: no limit. After `max_failures` failed nodes, no other one is started. `back_within`: the command may
    restart the node, which must be back within this time.
    """

    quorum: Quorum = Quorum(percent=100)
    timeout: float = 3600.0
    vote_timeout: float = 60.0
    in_flight: int | None = None
    per_minute: int | None = None
    max_failures: int | None = None
    wait_busy: float = 0.0
    back_within: float | None = None
    interval: float = 10.0


class Job(msgspec.Struct, frozen=True):
    """A job at one moment: its visits by node, in the order in which they start.

    `batch` is the one that votes or runs. The first `forgiven` failures no longer count: the job was resumed.
    """

    visits: Mapping[str, Visit]
    limits: Limits
    status: RunStatus = RunStatus.NEW
    batch: int = 0
    deadline: float = 0.0
    vote_ends: float = 0.0
    forgiven: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the job and all its visits have ended."""
        return not self.status.is_live and not any(visit.is_open for visit in self.visits.values())

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of visits of each status."""
        return Counter(visit.status for visit in self.visits.values())


def make_job(batches: Iterable[Iterable[str]], limits: Limits, denied: Iterable[str] = ()) -> Job:
    """Return a new job on nodes in batches; some of them may be denied to the person who starts it.

    Raise GitcfgError if there is no node.
    """
    visits = {node: Visit(number) for number, nodes in enumerate(batches) for node in nodes}
    if not visits:
        raise GitcfgError("No node is selected.", "Name nodes, or use a condition that some node meets.")
    for node in denied:
        visits[node] = replace(visits[node], state=Outcome.DENIED)
    return Job(visits, limits)


class Command(StrEnum):
    """What a person or a server does with a whole job."""

    STORED = "stored"
    ABORT = "abort"
    ABORT_SOFT = "abort_soft"  # start no more
    RESUME = "resume"
    ORPHAN = "orphan"  # the server that drove it is gone


class NodeEvent(msgspec.Struct, frozen=True):
    """A message of a node about its visit, or a fact about the node."""

    node: str
    signal: Signal
    why: str = ""


Event = NodeEvent | Command
BUSY = "busy"


class OrderKind(StrEnum):
    """The kinds of orders about a visit to its node."""

    OFFER = "offer"
    RENEW = "renew"  # stay ready
    START = "start"
    ABORT = "abort"
    WITHDRAW = "withdraw"  # as abort, but without waiting for an answer
    REHAB = "rehab"  # as abort, repeated until it is acknowledged


class Order(msgspec.Struct, frozen=True):
    """An order to a node."""

    node: str
    kind: OrderKind


class FeedKind(StrEnum):
    """The kinds of entries in the feed of a job."""

    START = "start"
    QUORUM_VOTE = "quorum_vote"
    QUORUM_SUCCEEDED = "quorum_succeeded"
    RUN_START = "run_start"
    REHAB = "rehab"
    RUN_COMPLETE = "run_complete"
    JOB_COMPLETE = "job_complete"


class FeedEntry(msgspec.Struct, frozen=True):
    """An event in the feed of a job. `detail` is a vote, or a status."""

    kind: FeedKind
    node: str = ""
    detail: str = ""


class Advance(msgspec.Struct, frozen=True):
    """The result of events: the new job, orders to send after the job is stored, and entries of its feed."""

    job: Job
    orders: tuple[Order, ...]
    feed: tuple[FeedEntry, ...]


def advance(job: Job, events: Iterable[Event], now: float) -> Advance:
    """Return the job after events, in their order, and then the time."""
    play = _Play(job, now)
    for event in events:
        if isinstance(event, NodeEvent):
            play.signal(event.node, event.signal, event.why)
        else:
            play.command(event)
    play.settle()
    return play.result()


def find_next_due(job: Job, now: float) -> float | None:
    """Return when the time next changes a job; None: never."""
    times = [visit.due for visit in job.visits.values() if visit.due is not None and visit.is_open]
    if job.status.is_live:
        times.append(job.deadline)
    if job.status is RunStatus.VOTING:
        times.append(job.vote_ends)
    if job.status is RunStatus.RUNNING and job.limits.per_minute is not None:
        started = [visit.started for visit in job.visits.values() if visit.started is not None]
        times += [at + _MINUTE for at in started if at + _MINUTE > now]
    return min(times, default=None)


_VOTES = {
    Signal.ACK: "success",
    Signal.NACK: "failure",
    Signal.VOTE_ENDED: "voting_timeout",
    Signal.DOWN: "down",
    Signal.REBORN: "down",
    Signal.UNREACHABLE: "down",
}


class _Play:
    """A job while events and time are applied to it."""

    def __init__(self, job: Job, now: float) -> None:
        self._job = job
        self._now = now
        self._visits = dict(job.visits)
        self._orders: list[Order] = []
        self._feed: list[FeedEntry] = []
        self._was_over = job.is_over

    def result(self) -> Advance:
        """Return the result."""
        job = replace(self._job, visits=self._visits)
        return Advance(job, tuple(self._orders), tuple(self._feed))

    # Events.

    def command(self, command: Command) -> None:
        """Apply a command of a person or a server to the whole job; ended visits stay as they are."""
        status, limits = self._job.status, self._job.limits
        if not status.is_live:
            return
        match command:
            case Command.STORED if status is RunStatus.NEW:
                self._update(deadline=self._now + limits.timeout)
                self._report(FeedKind.START)
                for node in self._in({Outcome.DENIED}):
                    self._report(FeedKind.RUN_COMPLETE, node, Outcome.DENIED.value)
                self._begin_batch(0)
            case Command.ABORT:
                self._end(RunStatus.ABORTED, Signal.ABORT)
            case Command.ABORT_SOFT:
                self._send(Signal.ABORT, set(State) - UNDERWAY)
            case Command.RESUME if status is RunStatus.HALTED:
                self._update(status=RunStatus.RUNNING, forgiven=self._failures())
            case Command.ORPHAN:
                self._end(RunStatus.CRASHED, Signal.ORPHAN)

    def signal(self, node: str, signal: Signal, why: str = "") -> None:
        """Apply a signal to a visit. Signals about missing visits, or ones that have ended, do nothing."""
        visit = self._visits.get(node)
        if visit is None or not visit.is_open:
            return
        if signal is Signal.ABORT and visit.state in UNDERWAY:
            self._abort(node, visit)
            return
        if signal is Signal.NACK and why == BUSY and self._waits(visit):
            self._visits[node] = replace(visit, due=self._now + _RETRY)
            return
        found = find_next(visit.state, signal)
        if found is None or found.to is visit.state:
            return
        if visit.state is State.OFFERED and (signal in _VOTES or found.to is Outcome.UNAVAILABLE):
            self._report(FeedKind.QUORUM_VOTE, node, _VOTES.get(signal, "down"))
        to = found.to
        if to is State.RUNNING and self._job.limits.back_within is not None:
            to = State.RESTARTING
        self._visits[node] = self._entered(visit, to, why)
        self._follow(node, found, to)

    def _follow(self, node: str, found: Next, to: State | Outcome) -> None:
        """Send the orders and report the entries that follow from a change of a visit."""
        if to in (State.RUNNING, State.RESTARTING):
            self._report(FeedKind.RUN_START, node)
        if found.rehab:
            self._order(node, OrderKind.REHAB)
            self._report(FeedKind.REHAB, node)
        elif found.withdraw:
            self._order(node, OrderKind.WITHDRAW)
        if isinstance(to, Outcome):
            self._report(FeedKind.RUN_COMPLETE, node, to.value)

    def _waits(self, visit: Visit) -> bool:
        return visit.state is State.OFFERED and self._now < visit.offered + self._job.limits.wait_busy

    def _entered(self, visit: Visit, to: State | Outcome, why: str) -> Visit:
        """Return a visit in a new state, with the time at which that state expires."""
        limits, due = self._job.limits, visit.due if visit.aborting else None
        if to in (State.VOTED, State.READY):
            due = self._now + limits.vote_timeout
        elif to is State.AWAY and not visit.aborting:
            due = self._now + (limits.back_within or 0.0)
        started = self._now if to is State.STARTING else visit.started
        offered = self._now if to is State.OFFERED else visit.offered
        return replace(visit, state=to, since=self._now, why=why, due=due, started=started, offered=offered)

    def _abort(self, node: str, visit: Visit) -> None:
        if not visit.aborting:
            due = self._now + max(_SILENT, _BEATS * self._job.limits.interval)
            self._visits[node] = replace(visit, aborting=True, due=due)
            self._order(node, OrderKind.ABORT)

    # Time, and its effects.

    def settle(self) -> None:
        """Apply the time, and advance the job as far as possible."""
        for node, visit in list(self._visits.items()):
            if visit.due is not None and visit.due <= self._now and visit.is_open:
                self._due(node, visit)
        if self._job.status.is_live and self._job.status is not RunStatus.NEW:
            if self._job.deadline <= self._now:
                self._end(RunStatus.TIMED_OUT, Signal.DEADLINE)
            while self._step():
                pass
        if not self._was_over and replace(self._job, visits=self._visits).is_over:
            self._report(FeedKind.JOB_COMPLETE, detail=self._job.status.value)

    def _due(self, node: str, visit: Visit) -> None:
        if visit.aborting:
            self.signal(node, Signal.ABORTED, "not acknowledged")
        elif visit.state is State.AWAY:
            self.signal(node, Signal.LATE)
        elif visit.state is not State.OFFERED:
            self._visits[node] = replace(visit, due=self._now + self._job.limits.vote_timeout)
            self._order(node, OrderKind.RENEW)
        else:
            self._visits[node] = replace(visit, due=None)
            if self._now < self._job.vote_ends:
                self._order(node, OrderKind.OFFER)

    def _step(self) -> bool:
        """Do the next thing that is possible now; return whether there may be another one."""
        if self._job.status is RunStatus.VOTING:
            return self._count_votes()
        return self._job.status.is_live and self._go_on()

    def _count_votes(self) -> bool:
        """End the vote if every node of the batch has answered or was given up."""
        batch = [visit for visit in self._visits.values() if visit.batch == self._job.batch]
        if self._job.vote_ends <= self._now:
            self._send(Signal.VOTE_ENDED, {State.OFFERED})
        elif any(visit.state is State.OFFERED for visit in batch):
            return False
        if len(self._in({State.VOTED})) >= self._job.limits.quorum.of(len(batch)):
            self._update(status=RunStatus.RUNNING)
            self._report(FeedKind.QUORUM_SUCCEEDED)
            self._send(Signal.GO, {State.VOTED})
        else:
            self._end(RunStatus.QUORUM_FAILED, Signal.MISS)
        return True

    def _go_on(self) -> bool:
        """Start what may be started. If nothing is open, begin the next batch, or end the job."""
        limits, later = self._job.limits, self._in({State.BLOCKED})
        ready, underway = self._in({State.READY}), self._in(UNDERWAY)
        most = limits.max_failures
        if self._job.status is RunStatus.RUNNING:
            if most is not None and self._failures() - self._job.forgiven > most and (ready or later):
                self._update(status=RunStatus.HALTED)
                return True
            for node in ready[: self._places(len(ready), len(underway))]:
                self.signal(node, Signal.START)
                self._order(node, OrderKind.START)
        if ready or underway:
            return False
        if not later:
            self._update(status=RunStatus.COMPLETE)
        elif self._job.status is RunStatus.RUNNING:
            self._begin_batch(min(self._visits[node].batch for node in later))
        else:
            return False
        return True

    def _places(self, ready: int, underway: int) -> int:
        """Return how many more nodes may be started now."""
        limits = self._job.limits
        free = ready if limits.in_flight is None else limits.in_flight - underway
        if limits.per_minute is not None:
            begun = (visit.started for visit in self._visits.values() if visit.started is not None)
            free = min(free, limits.per_minute - sum(at > self._now - _MINUTE for at in begun))
        return max(free, 0)

    def _begin_batch(self, batch: int) -> None:
        ends = self._now + max(self._job.limits.vote_timeout, self._job.limits.wait_busy)
        self._update(status=RunStatus.VOTING, batch=batch, vote_ends=ends)
        for node in self._in({State.BLOCKED}):
            if self._visits[node].batch == batch:
                self.signal(node, Signal.OFFER)
                self._order(node, OrderKind.OFFER)

    def _end(self, status: RunStatus, signal: Signal) -> None:
        """End the run: each open visit gets the signal, and visits that have not begun are closed."""
        self._update(status=status)
        self._send(signal, set(State))
        self._send(Signal.CLOSE, {State.BLOCKED, State.OFFERED})

    # Shorthands.

    def _in(self, states: Set[State | Outcome]) -> list[str]:
        return [node for node, visit in self._visits.items() if visit.state in states]

    def _send(self, signal: Signal, states: Set[State | Outcome]) -> None:
        for node in self._in(states):
            self.signal(node, signal)

    def _failures(self) -> int:
        return len(self._in(FAILURES))

    def _update(self, **changes: object) -> None:
        self._job = replace(self._job, **changes)

    def _order(self, node: str, kind: OrderKind) -> None:
        self._orders.append(Order(node, kind))

    def _report(self, kind: FeedKind, node: str = "", detail: str = "") -> None:
        self._feed.append(FeedEntry(kind, node, detail))
