"""The scheduler: all jobs of a server, the presence of all agents, and aborts to repeat.

`tick` is pure: messages and the time are inputs, orders to nodes and entries of feeds are outputs.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from gitcfg.runs.jobs import (
    Command,
    Event,
    FeedEntry,
    Job,
    NodeEvent,
    Order,
    OrderKind,
    advance,
    find_next_due,
)
from gitcfg.runs.presence import Presence, beat, end_interval, is_reborn
from gitcfg.runs.visits import Signal

_FIRST_REPEAT = 1.0  # seconds; each further one takes twice as long, up to an interval
_MANY = 4000  # the number of nodes from which on beats are less frequent
_INTERVAL, _LONG_INTERVAL = 10.0, 15.0


def choose_interval(nodes: int) -> float:
    """Return the seconds between beats in a fleet of a number of nodes."""
    return _INTERVAL if nodes < _MANY else _LONG_INTERVAL


class Beat(msgspec.Struct, frozen=True):
    """An agent is present. A new incarnation has lost the state of the former one."""

    node: str
    incarnation: str


class Stop(msgspec.Struct, frozen=True):
    """An agent has announced that it stops, and why."""

    node: str
    why: str


class Answer(msgspec.Struct, frozen=True):
    """The message of a node about its visit in a job."""

    job: str
    event: NodeEvent


class Request(msgspec.Struct, frozen=True):
    """A request of a person or a server about a job: all of it, or one visit."""

    job: str
    event: Event


class Bar(msgspec.Struct, frozen=True):
    """An operator's decision about a node: why it gets no visits; empty: it gets them again."""

    node: str
    why: str = ""


Message = Beat | Stop | Answer | Request | Bar


class VisitId(NamedTuple):
    """A visit of a job: each node has one."""

    job: str
    node: str


class Rehab(msgspec.Struct, frozen=True):
    """An abort that is repeated until the node acknowledges it: the next time, and the pause after that."""

    due: float
    wait: float


class Schedule(msgspec.Struct, frozen=True):
    """The state of a scheduler at one moment. `barred` has the reasons why nodes get no visits."""

    interval: float = _INTERVAL
    interval_ends: float = 0.0
    jobs: Mapping[str, Job] = {}
    presences: Mapping[str, Presence] = {}
    rehabs: Mapping[VisitId, Rehab] = {}
    barred: Mapping[str, str] = {}

    def is_up(self, node: str) -> bool:
        """Return whether a node can get offers."""
        return node in self.presences and self.presences[node].up and node not in self.barred


class Tick(msgspec.Struct, frozen=True):
    """The result of messages and time: the new schedule, and orders and entries of feeds with their jobs."""

    schedule: Schedule
    orders: tuple[tuple[str, Order], ...]
    feed: tuple[tuple[str, FeedEntry], ...]


def add_job(schedule: Schedule, name: str, job: Job, now: float) -> Tick:
    """Return the schedule with a stored job, which begins."""
    schedule = replace(schedule, jobs={**schedule.jobs, name: job})
    return tick(schedule, [Request(name, Command.STORED)], now)


def remove_finished(schedule: Schedule) -> Schedule:
    """Return the schedule without jobs that are over; their aborts are still repeated."""
    return replace(schedule, jobs={name: job for name, job in schedule.jobs.items() if not job.is_over})


def find_next_tick(schedule: Schedule, now: float) -> float:
    """Return when the time next changes anything."""
    dues = [due for job in schedule.jobs.values() if (due := find_next_due(job, now)) is not None]
    return min([schedule.interval_ends, *dues, *(rehab.due for rehab in schedule.rehabs.values())])


def tick(schedule: Schedule, messages: Iterable[Message], now: float) -> Tick:
    """Return the schedule after messages, in their order, and then the time."""
    return _Round(schedule, now).play(messages)


class _Round:
    """One tick while it is computed."""

    def __init__(self, schedule: Schedule, now: float) -> None:
        self._schedule = schedule
        self._now = now
        self._jobs = dict(schedule.jobs)
        self._presences = dict(schedule.presences)
        self._rehabs = dict(schedule.rehabs)
        self._barred = dict(schedule.barred)
        self._events: dict[str, list[Event]] = {}
        self._orders: list[tuple[str, Order]] = []
        self._feed: list[tuple[str, FeedEntry]] = []

    def play(self, messages: Iterable[Message]) -> Tick:
        """Apply messages, then time."""
        for message in messages:
            self._hear(message)
        ends = self._schedule.interval_ends
        if ends <= self._now:  # a server that was late must not judge agents by beats that it missed
            self._end_interval()
            ends = self._now + self._schedule.interval
        for name in self._jobs:
            self._advance(name)
        self._repeat_aborts()
        schedule = Schedule(
            self._schedule.interval, ends, self._jobs, self._presences, self._rehabs, self._barred
        )
        return Tick(schedule, tuple(self._orders), tuple(self._feed))

    def _hear(self, message: Message) -> None:
        match message:
            case Beat(node, incarnation):
                known = self._presences.get(node, Presence(incarnation=incarnation))
                if is_reborn(known, incarnation):
                    known = Presence(incarnation=incarnation)
                    self._signal_all(node, Signal.REBORN)
                self._presences[node] = beat(known)
            case Stop(node, why):
                if node in self._presences:
                    self._presences[node] = replace(self._presences[node], up=False, average=0.0)
                self._signal_all(node, Signal.DOWN, why)
            case Answer(job, event):
                if event.signal is Signal.ABORTED:
                    self._rehabs.pop(VisitId(job, event.node), None)
                self._add(job, event)
            case Request(job, event):
                self._add(job, event)
            case Bar(node, why):
                if why:
                    self._barred[node] = why
                else:
                    self._barred.pop(node, None)

    def _add(self, job: str, event: Event) -> None:
        self._events.setdefault(job, []).append(event)

    def _signal_all(self, node: str, signal: Signal, why: str = "") -> None:
        """Send a fact about a node to all jobs with the node: each decides whether it matters."""
        for name, job in self._jobs.items():
            if node in job.visits:
                self._add(name, NodeEvent(node, signal, why))

    def _end_interval(self) -> None:
        for node, presence in self._presences.items():
            after = end_interval(presence)
            self._presences[node] = after
            if presence.up and not after.up:
                self._signal_all(node, Signal.DOWN)

    def _advance(self, name: str) -> None:
        """Advance a job. A node that cannot get offers has its answer at once."""
        events = self._events.pop(name, [])
        while True:
            done = advance(self._jobs[name], events, self._now)
            self._jobs[name] = done.job
            self._feed += ((name, entry) for entry in done.feed)
            events = list(self._answers(name, done.orders))
            if not events:
                return

    def _answers(self, name: str, orders: Iterable[Order]) -> Iterator[NodeEvent]:
        """Send orders; yield the answers of unreachable nodes."""
        for order in orders:
            visit = VisitId(name, order.node)
            if order.kind is OrderKind.OFFER and (why := self._find_reason(order.node)):
                yield NodeEvent(order.node, Signal.UNREACHABLE, why)
                continue
            if order.kind is OrderKind.REHAB:
                self._rehabs[visit] = Rehab(self._now + _FIRST_REPEAT, 2 * _FIRST_REPEAT)
            self._orders.append((name, order))

    def _find_reason(self, node: str) -> str:
        """Return why a node cannot get offers now; "" if it can."""
        if node in self._barred:
            return self._barred[node]
        if node not in self._presences or not self._presences[node].up:
            return "no agent"
        return "still ending another visit" if any(visit.node == node for visit in self._rehabs) else ""

    def _repeat_aborts(self) -> None:
        for visit, rehab in self._rehabs.items():
            if rehab.due <= self._now:
                wait = min(2 * rehab.wait, self._schedule.interval)
                self._rehabs[visit] = Rehab(self._now + rehab.wait, wait)
                self._orders.append((visit.job, Order(visit.node, OrderKind.REHAB)))
