"""Asking the servers: signed questions, answers that count, the next server where one does not answer."""

from __future__ import annotations

import os
import time

from .clock import ServerClock, date_of
from .declining import accepted, wanted_pause
from .identity import Identity
from .problems import BUSY, AgentError, Declined, Dropped, Unreachable, Untrusted
from .servers import Server, loopback
from .settings import Settings
from .signing import Request, signed
from .tls import context_of
from .transport import Line
from .verifying import Answer, verify

SMALL = 1 << 20
"""Bytes of an answer that is no package."""


class Client:
    """The servers of a node. The one that answered last is asked first; one that is busy, when it said."""

    def __init__(self, settings: Settings, who: Identity, clock: ServerClock) -> None:
        self.settings = settings
        self.who = who
        self.clock = clock
        self._lines: list[Line] = []

    @property
    def server(self) -> Server:
        """The one that is asked first."""
        return self._lines[0].server if self._lines else self.settings.servers[0]

    @property
    def rest(self) -> float:
        """Seconds until a server may be asked: more than none where all are busy."""
        return max(0.0, min((line.busy_until for line in self._lines), default=0.0) - time.monotonic())

    def close(self) -> None:
        """Hang up: the next question goes over new connections, and to any server."""
        for line in self._lines:
            line.close()
            line.busy_until = 0.0

    def turn(self) -> None:
        """Hang up, and ask the next server first: what this one says is of no use."""
        for line in self._lines:
            line.close()
        self._lines = self._lines[1:] + self._lines[:1]

    def ask(self, request: Request, wait: float = 0.0, most: int = SMALL, timeout: float = 0.0) -> Answer:
        """The first answer that counts, and that is not `no` (Declined). `wait` may pass before it comes."""
        problems: list[AgentError] = []
        for line in self._awake():
            found = self._heard(line, request, wait + (timeout or self.settings.timeout), most)
            if isinstance(found, Answer):
                return found
            line.busy_until = time.monotonic() + found.after
            problems.append(found)
        raise _worst(problems)

    def _heard(self, line: Line, request: Request, timeout: float, most: int) -> Answer | AgentError:
        """An answer that counts, or why another server is to be asked."""
        try:
            answer = self._asked(line, request, timeout, most)
            self._lines.sort(key=lambda one: one is not line)
            return accepted(answer, self.who, self.clock.now())
        except (Unreachable, Untrusted, Declined) as error:
            if isinstance(error, Declined) and error.status not in BUSY:
                raise
            return error

    def _awake(self) -> list[Line]:
        """Those that are not busy; all, where that is none: who asks all the same has waited."""
        if not self._lines:
            context = context_of(self.settings)
            self._lines = [Line(one, context if one.tls else None) for one in self.settings.servers]
        return [one for one in self._lines if one.busy_until <= time.monotonic()] or list(self._lines)

    def _asked(self, line: Line, request: Request, timeout: float, most: int) -> Answer:
        answer, moved = self._tried(line, request, timeout, most)
        if answer.status == 401 and moved:
            answer, _ = self._tried(line, request, timeout, most)
        return answer

    def _tried(self, line: Line, request: Request, timeout: float, most: int) -> tuple[Answer, bool]:
        """An answer, and whether it moved the clock; signed anew where a kept connection is dead."""
        try:
            return self._once(line, request, timeout, most)
        except Dropped:
            return self._once(line, request, timeout, most)

    def _once(self, line: Line, request: Request, timeout: float, most: int) -> tuple[Answer, bool]:
        nonce = os.urandom(16).hex() if request.method == "POST" else ""
        ready = signed(request, self.who, int(self.clock.now()), nonce)
        answer = line.ask(ready, self.settings.timeout, timeout, most)
        try:
            return answer, self.clock.seen(verify(answer, ready, self.settings.server_keys))
        except Untrusted as error:
            line.close()
            told = date_of(answer.headers.get("date", ""))
            if answer.status == 401 and told is not None and _private(line.server) and self.clock.seen(told):
                return answer, True
            raise self._unbelieved(line, answer, error) from None

    def _unbelieved(self, line: Line, answer: Answer, error: Untrusted) -> AgentError:
        """A proxy whose server is away cannot sign: that is no lie, and nothing of it counts either."""
        if answer.status in BUSY:
            pause = wanted_pause(answer, self.clock.now())
            return Unreachable(f"{line.server} has no answer now: HTTP {answer.status}.", after=pause)
        return Untrusted(f"{line.server}: {error.message}", *error.hints)


def _private(server: Server) -> bool:
    """Whether nobody on the way can have written what a server says, even unsigned."""
    return server.tls or loopback(server.host)


def _worst(problems: list[AgentError]) -> AgentError:
    """What to tell of several servers' failures: one that lied matters most, then one that is there."""
    kinds = (Untrusted, Declined, AgentError)
    return next(one for kind in kinds for one in problems if isinstance(one, kind))
