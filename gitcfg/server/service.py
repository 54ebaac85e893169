"""The parts that answer requests, in one object."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import date
from logging import Logger

from aiohttp import web

from gitcfg.secrets.identities import Identities
from gitcfg.server.admission import Admission, OtherKeys
from gitcfg.server.checkins import CheckinWriter, EventWriter
from gitcfg.server.controller import Controller, Polls, Streams
from gitcfg.server.fleets import FleetWorker, Opener
from gitcfg.server.http import Problem, RateLimiter
from gitcfg.server.metrics import Metrics
from gitcfg.server.secrets import RefusalLog, SecretSealer
from gitcfg.server.signatures import ServerKey
from gitcfg.server.view import View
from gitcfg.state import nodes as claims
from gitcfg.state.records import Token
from gitcfg.state.state import State


class Service:
    """The parts that answer requests. `clock` returns seconds since the epoch.

    `identities` are the keys that decrypt secrets. `pending` are the limits for nodes that wait to be
    accepted.
    """

    def __init__(
        self,
        state: State,
        opener: Opener,
        key: ServerKey,
        clock: Callable[[], float],
        today: Callable[[], date],
        log: Logger,
        identities: Identities,
        pending: claims.Limits = claims.USUAL,
    ) -> None:
        self.state, self.key, self.clock, self.today, self.log = state, key, clock, today, log
        self.polls, self.streams, self.limits, self.metrics = Polls(), Streams(), RateLimiter(), Metrics()
        # Three threads, for new commits, for nodes' packages, and for people: no kind blocks another.
        self._judge = FleetWorker("judge", opener, 1)
        self.packages = FleetWorker("packages", opener, 4)
        self.people = FleetWorker("people", opener, 2)
        self.controller = Controller(state, self._judge, self.polls, self.streams, clock, today, log, pending)
        self.checkin_writer = CheckinWriter(self.controller.threads, self.controller.record)
        self.admission = Admission(self.controller)
        self.other_keys = OtherKeys(self.controller)
        self.sealer, self.refusals = SecretSealer(identities), RefusalLog(log)
        self.event_writer = EventWriter(self.controller)
        self.walk_ins: OrderedDict[tuple[str, str], str] = OrderedDict()
        self.tokens: OrderedDict[str, tuple[float, Token]] = OrderedDict()

    @property
    def view(self) -> View:
        """The current view. Raise Problem if no commit has been accepted yet."""
        view = self.controller.view
        if view is None:
            raise Problem("unavailable", "No commit has been accepted yet.", {"Retry-After": "5"})
        return view

    def release_waiting(self) -> None:
        """End all waiting requests, because the server stops."""
        self.polls.close()
        self.streams.close()

    def close(self) -> None:
        """Stop the threads."""
        for worker in (self._judge, self.packages, self.people):
            worker.close()
        self.controller.threads.shutdown(wait=True)


SERVICE = web.AppKey("service", Service)
