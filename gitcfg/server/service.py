"""Everything that requests are answered with, put together."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import date
from logging import Logger

from aiohttp import web

from gitcfg.secrets import Identities
from gitcfg.server.conductor import Conductor
from gitcfg.server.fleets import Bench, Opener
from gitcfg.server.limits import Limits
from gitcfg.server.metrics import Metrics
from gitcfg.server.others import Others
from gitcfg.server.polls import Polls
from gitcfg.server.problems import Problem
from gitcfg.server.sealing import Refusals, Sealing
from gitcfg.server.signing import ServerKey
from gitcfg.server.strangers import Strangers
from gitcfg.server.streams import Streams
from gitcfg.server.teller import Teller
from gitcfg.server.view import View
from gitcfg.server.writer import Writer
from gitcfg.state import State, Token, claims


class Service:
    """`clock` is the time in seconds since the epoch. `opener` opens the repository anew.

    `identities` are the keys with which it opens secrets. `pending` are the limits of what is kept of nodes
    that wait to be accepted.
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
        self.polls, self.streams, self.limits, self.metrics = Polls(), Streams(), Limits(), Metrics()
        # Three threads: a new commit is judged, nodes get theirs, and people's questions keep nobody waiting.
        self._judges = Bench("judge", opener, 1)
        self.packages = Bench("packages", opener, 4)
        self.people = Bench("people", opener, 2)
        self.conductor = Conductor(state, self._judges, self.polls, self.streams, clock, today, log, pending)
        self.writer = Writer(self.conductor.threads, self.conductor.record)
        self.strangers = Strangers(self.conductor)
        self.others = Others(self.conductor)
        self.sealing, self.refusals = Sealing(identities), Refusals(log)
        self.teller = Teller(self.conductor)
        self.walk_ins: OrderedDict[tuple[str, str], str] = OrderedDict()
        self.tokens: OrderedDict[str, tuple[float, Token]] = OrderedDict()

    @property
    def view(self) -> View:
        """How everything stands. Problem: nothing has been accepted yet."""
        view = self.conductor.view
        if view is None:
            raise Problem("unavailable", "No commit has been accepted yet.", {"Retry-After": "5"})
        return view

    def hush(self) -> None:
        """Let everybody go who waits: the server ends."""
        self.polls.close()
        self.streams.close()

    def close(self) -> None:
        """End the threads."""
        for bench in (self._judges, self.packages, self.people):
            bench.close()
        self.conductor.threads.shutdown(wait=True)


SERVICE = web.AppKey("service", Service)
