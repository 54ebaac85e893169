"""Runs the server until it is told to end: then requests are finished, and whoever waits is answered."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.server.application import Boundary, application
from gitcfg.server.certificate import Certificate, Files, certificate
from gitcfg.server.keeping import begun, keep_up
from gitcfg.server.protocol import patient
from gitcfg.server.proxies import Network
from gitcfg.server.service import Service

_FINISH = 10.0
_LOOK = 2.0
_LINGER = 1.0  # so many seconds the rest of a body is read that is not wanted


class Listen(msgspec.Struct, frozen=True):
    """Where to listen, with what certificate, and behind which proxies."""

    host: str
    port: int
    tls: Files | None = None
    trusted: tuple[Network, ...] = ()


async def run(service: Service, listen: Listen, boundary: Boundary, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. `ready` is told where. GitcfgError: it cannot listen there."""
    loop, conductor = asyncio.get_running_loop(), service.conductor
    tls = certificate(listen.tls, service.log) if listen.tls is not None else None
    ended = _ended(tls)
    hearing = await begun(conductor)
    runner = web.AppRunner(
        application(service, boundary, listen.trusted),
        access_log=None,
        shutdown_timeout=_FINISH,
        lingering_time=_LINGER,
    )
    await runner.setup()
    patient(runner)

    def wake() -> None:
        loop.call_soon_threadsafe(conductor.wake)

    waking = service.state.listen(wake)
    keeping = asyncio.create_task(keep_up(conductor, hearing))
    watching = asyncio.create_task(_watch(tls))
    try:
        ready(await _listening(runner, listen, tls))
        stop = asyncio.create_task(ended.wait())
        await asyncio.wait({stop, keeping}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
    finally:
        waking.close()
        watching.cancel()
        await runner.cleanup()
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        service.close()


def _ended(tls: Certificate | None) -> asyncio.Event:
    """Set when the server is to end. SIGHUP does not end it: the certificate is read anew, if it has one."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    loop.add_signal_handler(signal.SIGHUP, tls.read if tls is not None else _nothing)
    return ended


def _nothing() -> None:
    """There is nothing to be read anew."""


async def _watch(tls: Certificate | None) -> None:
    """Take up certificates as they are renewed, until it is cancelled."""
    while tls is not None:
        await asyncio.sleep(_LOOK)
        await asyncio.to_thread(tls.look)


async def _listening(runner: web.AppRunner, listen: Listen, tls: Certificate | None) -> str:
    context = tls.context if tls is not None else None
    site = web.TCPSite(runner, listen.host, listen.port, ssl_context=context, backlog=4096)
    try:
        await site.start()
    except OSError as error:
        raise GitcfgError(f"Cannot listen on {listen.host}:{listen.port}: {error.strerror}.") from None
    host, port = runner.addresses[0][:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if context else 'http'}://{shown}:{port}"
