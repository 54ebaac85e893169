"""Asking the servers: signed questions, answers that count, the next server where one does not answer."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .clock import ServerClock, date_of
from .identity import Identity
from .problems import Declined, Dropped, Unreachable, Untrusted
from .servers import Server, loopback
from .settings import Settings
from .signing import Request, signed
from .transport import Line
from .verifying import Answer, verify

if TYPE_CHECKING:
    import ssl

SMALL = 1 << 20
"""Bytes of an answer that is no package."""
PENDING = "pending"
"""The problem of a node that git does not know."""


class Client:
    """The servers of a node. The one that answered last is asked first."""

    def __init__(self, settings: Settings, who: Identity, clock: ServerClock) -> None:
        self.settings = settings
        self.who = who
        self.clock = clock
        self._lines: list[Line] = []

    def close(self) -> None:
        """Hang up: the next question goes over new connections."""
        for line in self._lines:
            line.close()

    def turn(self) -> None:
        """Hang up, and ask the next server first: what this one says is of no use."""
        self.close()
        self._lines = self._lines[1:] + self._lines[:1]

    def ask(self, request: Request, wait: float = 0.0, most: int = SMALL, timeout: float = 0.0) -> Answer:
        """The first answer that counts, and that is not `no` (Declined). `wait` may pass before it comes."""
        problems: list[Unreachable | Untrusted] = []
        for line in self._all():
            try:
                answer = self._asked(line, request, wait + (timeout or self.settings.timeout), most)
            except (Unreachable, Untrusted) as error:
                problems.append(error)
                continue
            self._lines.sort(key=lambda one: one is not line)
            return _accepted(answer, self.who)
        raise _worst(problems)

    def _all(self) -> list[Line]:
        if not self._lines:
            context = _context(self.settings)
            self._lines = [Line(one, context if one.tls else None) for one in self.settings.servers]
        return list(self._lines)

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
            raise Untrusted(f"{line.server}: {error.message}", *error.hints) from None


def _private(server: Server) -> bool:
    """Whether nobody on the way can have written what a server says, even unsigned."""
    return server.tls or loopback(server.host)


def _context(settings: Settings) -> ssl.SSLContext | None:
    if not any(server.tls for server in settings.servers):
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=settings.ca or None)
    except (ssl.SSLError, OSError) as error:
        raise Unreachable(
            f"The certificates in {settings.ca or 'the system'} cannot be read: {error}."
        ) from error


def _worst(problems: list[Unreachable | Untrusted]) -> Unreachable | Untrusted:
    """What to tell of several servers' failures: one that lied matters more than one that is away."""
    lies = [one for one in problems if isinstance(one, Untrusted)]
    return (lies or problems)[0]


def _accepted(answer: Answer, who: Identity) -> Answer:
    if answer.status in (200, 304):
        return answer
    said = _problem(answer)
    hints = (
        f"This node's key is {who.fingerprint}.",
        f"Whoever administers the repository accepts it: gitcfg node accept {who.node}",
    )
    kind = str(said.get("type", "")).rpartition(":")[2]
    detail = str(said.get("detail") or said.get("title") or f"HTTP {answer.status}")[:1000]
    told = f"The server declines: {detail.rstrip('.')}."
    raise Declined(answer.status, kind, told, *(hints if kind == PENDING else ()))


def _problem(answer: Answer) -> Mapping[str, Any]:
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
