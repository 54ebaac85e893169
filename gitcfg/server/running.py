"""Run the server until a signal: then requests are finished, and waiting clients are answered."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.server.application import Boundary, make_application
from gitcfg.server.certificate import Certificate, CertificateFiles, load_certificate
from gitcfg.server.keeping import begin_reading, run_loops
from gitcfg.server.protocol import use_timed_connections
from gitcfg.server.proxies import Network
from gitcfg.server.service import Service

_FINISH = 10.0
_LOOK = 2.0
_LINGER = 1.0  # so many seconds the rest of a body is read that is not wanted


class ListenOptions(msgspec.Struct, frozen=True):
    """Where to listen, with what certificate, and behind which proxies."""

    host: str
    port: int
    tls: CertificateFiles | None = None
    trusted: tuple[Network, ...] = ()


async def run_server(
    service: Service, listen: ListenOptions, boundary: Boundary, ready: Callable[[str], None]
) -> None:
    """Serve until SIGTERM or SIGINT. Call `ready` with the URL. Raise GitcfgError if it cannot listen."""
    loop, controller = asyncio.get_running_loop(), service.controller
    tls = load_certificate(listen.tls, service.log) if listen.tls is not None else None
    ended = _handle_signals(tls)
    reader = await begin_reading(controller)
    runner = web.AppRunner(
        make_application(service, boundary, listen.trusted),
        access_log=None,
        shutdown_timeout=_FINISH,
        lingering_time=_LINGER,
    )
    await runner.setup()
    use_timed_connections(runner)

    def wake() -> None:
        loop.call_soon_threadsafe(controller.wake)

    waking = service.state.listen(wake)
    keeping = asyncio.create_task(run_loops(controller, reader))
    watching = asyncio.create_task(_watch_certificate(tls))
    try:
        ready(await _listen(runner, listen, tls))
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


def _handle_signals(tls: Certificate | None) -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set. SIGHUP reads the certificate again, if there is one."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    loop.add_signal_handler(signal.SIGHUP, tls.reload if tls is not None else _ignore)
    return ended


def _ignore() -> None:
    """Ignore SIGHUP without a certificate."""


async def _watch_certificate(tls: Certificate | None) -> None:
    """Reload certificates as they are renewed, until cancelled."""
    while tls is not None:
        await asyncio.sleep(_LOOK)
        await asyncio.to_thread(tls.reload_if_changed)


async def _listen(runner: web.AppRunner, listen: ListenOptions, tls: Certificate | None) -> str:
    context = tls.context if tls is not None else None
    site = web.TCPSite(runner, listen.host, listen.port, ssl_context=context, backlog=4096)
    try:
        await site.start()
    except OSError as error:
        raise GitcfgError(f"Cannot listen on {listen.host}:{listen.port}: {error.strerror}.") from None
    host, port = runner.addresses[0][:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if context else 'http'}://{shown}:{port}"
