"""One simulated agent: it checks in, waits for news until the next one is due, and follows what it hears."""

import asyncio
import random
import time

import msgspec

from bench.agents.crew import checkin, package, poll
from bench.agents.sheet import Sheet
from bench.agents.wire import Line, Place, Reply
from gitcfg.agent.keys import Identity, Request

PATIENCE = 30.0
"""Seconds that an answer may take beyond what it was asked to wait."""


class _Target(msgspec.Struct, frozen=True):
    commit: str
    digest: str


class Agent:
    """As gitcfg-agent's loop, but that it installs nothing: what it is told, it says to run."""

    def __init__(self, who: Identity, place: Place, sheet: Sheet, interval: float) -> None:
        self.who, self.sheet = who, sheet
        self.line = Line(place)
        self.commit = self.digest = ""
        self.checking = self.ended = False
        self._interval = interval
        self._number = 0

    async def run(self) -> None:
        """Until it is let go or cancelled: begin at some moment of the interval, then go on as agents do."""
        await asyncio.sleep(random.uniform(0, self._interval))
        while not self.ended:
            due = time.monotonic() + self._interval * random.uniform(0.9, 1.1)
            try:
                await self.check_in()
                await self._wait_until(due)
            except (OSError, TimeoutError) as error:
                self.sheet.wrong[type(error).__name__] += 1
                await asyncio.sleep(1)

    async def _wait_until(self, due: float) -> None:
        while (left := due - time.monotonic()) >= 1 and not self.ended:
            await self.wait(int(min(60, left)))
        await asyncio.sleep(0 if self.ended else max(0.0, left))

    async def check_in(self) -> None:
        """Say how it stands."""
        self._number += 1
        request = checkin(self.who, self._number, self.commit, self.digest, self._interval)
        self.checking, reply = True, None
        try:
            reply = await self._asked("check-in", request, 0)
        finally:
            self.checking = False
            self.sheet.checked_in(self.who.node, self._number if reply is not None else None)
        if reply is not None:
            self._hear(reply)

    async def wait(self, seconds: int) -> None:
        """Ask what to run; the answer may take so long."""
        reply = await self._asked("poll", poll(self.who, self.digest, seconds), seconds)
        if reply is not None and reply.status == 200:
            self._hear(reply)

    async def fetch(self) -> None:
        """Ask for all that it gets."""
        await self._asked("package", package(self.who, self.commit), 0)

    async def _asked(self, kind: str, request: Request, wait: int) -> Reply | None:
        """The answer, if it counts. Of a poll that waited in vain only what was too long is written down."""
        begun = time.monotonic()
        try:
            async with asyncio.timeout(wait + PATIENCE):
                reply = await self.line.ask(request)
        except BaseException:
            self.line.close()  # an answer that comes now belongs to no request any more
            raise
        took = time.monotonic() - begun
        late = None if wait and reply.status == 200 else max(0.0, took - wait)
        return reply if self.sheet.answered(kind, request, reply, late) else None

    def _hear(self, reply: Reply) -> None:
        target = msgspec.json.decode(reply.body, type=_Target)
        if target.commit != self.commit:
            self.sheet.heard(target.commit)
        self.commit, self.digest = target.commit, target.digest
