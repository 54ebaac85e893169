"""Runs the server until it is told to end: then requests are finished, and whoever waits is answered."""

import asyncio
import signal
import ssl
from collections.abc import Callable
from contextlib import suppress

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.server.application import Boundary, application
from gitcfg.server.protocol import patient
from gitcfg.server.service import Service

_FINISH = 10.0
_LINGER = 1.0  # so many seconds the rest of a body is read that is not wanted


class Listen(msgspec.Struct, frozen=True):
    """Where to listen; `tls` are a certificate's file and its key's."""

    host: str
    port: int
    tls: tuple[str, str] | None = None


async def run(service: Service, listen: Listen, boundary: Boundary, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. `ready` is told where. GitcfgError: it cannot listen there."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    await service.conductor.start()
    runner = web.AppRunner(
        application(service, boundary),
        access_log=None,
        shutdown_timeout=_FINISH,
        lingering_time=_LINGER,
    )
    await runner.setup()
    patient(runner)

    def wake() -> None:
        loop.call_soon_threadsafe(service.conductor.wake)

    waking = service.state.listen(wake)
    keeping = asyncio.create_task(service.conductor.run())
    try:
        ready(await _listening(runner, listen))
        stop = asyncio.create_task(ended.wait())
        await asyncio.wait({stop, keeping}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
    finally:
        waking.close()
        await runner.cleanup()
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        service.close()


async def _listening(runner: web.AppRunner, listen: Listen) -> str:
    context = None
    if listen.tls is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(*listen.tls)
        except (OSError, ssl.SSLError) as error:
            raise GitcfgError(f"The certificate cannot be used: {error}.") from None
    site = web.TCPSite(runner, listen.host, listen.port, ssl_context=context, backlog=4096)
    try:
        await site.start()
    except OSError as error:
        raise GitcfgError(f"Cannot listen on {listen.host}:{listen.port}: {error.strerror}.") from None
    host, port = runner.addresses[0][:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if context else 'http'}://{shown}:{port}"
