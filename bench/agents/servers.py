"""The servers that are measured: when one is ready, and the database that it is given."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.agents.phases import Meter
from bench.agents.process import Process, family
from bench.agents.wire import Line
from gitcfg.agent.keys import Request
from tests import postgres

_READY = 120.0


async def ready(process: Process) -> None:
    """Wait until a commit counts. TimeoutError: none does."""
    line = Line(process.place)
    async with asyncio.timeout(_READY):
        while (await line.ask(Request("GET", "/readyz"))).status != 200:
            await asyncio.sleep(0.2)
    line.close()


@contextmanager
def database(kind: str, home: Path) -> Iterator[tuple[str, Meter | None]]:
    """A new database's address, and its CPU if it is a server of its own; nothing: it cannot be had here."""
    if kind == "sqlite":
        yield f"sqlite:///{home / 'state.db'}", None
        return
    if postgres.missing():
        yield "", None
        return
    with ExitStack() as stack:
        server = stack.enter_context(postgres.running())
        pid = int((server.folder / "data/postmaster.pid").read_text().split()[0])
        yield server.url("bench"), lambda: family(pid)
