"""The web application, which runs until a signal: its connections, and a TLS certificate that may change."""

import asyncio
import os
import signal
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from logging import Logger
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from gitcfg.model import GitcfgError
from gitcfg.server import pages
from gitcfg.server.auth import ABOUT, WHO
from gitcfg.server.http import (
    CONTENT_TYPE,
    NAME,
    ORIGIN,
    SERVER,
    Network,
    Problem,
    find_origin,
    problem_from_http,
    problem_response,
    problem_to_json,
)
from gitcfg.server.loops import begin_reading, run_loops
from gitcfg.server.pages.base import problem_page_response
from gitcfg.server.routes import routes
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signatures import AnswerSubject

CertificateFiles = tuple[str, str]
"""The files of a certificate and of its key."""


class Certificate:
    """A certificate that can be renewed: `context` is for listening; new connections get the current one.

    The current one is a separate context, so that a connection never uses a half-loaded one.
    """

    def __init__(
        self, files: CertificateFiles, loaded: ssl.SSLContext, stamps: tuple[object, ...], log: Logger
    ) -> None:
        self.context = loaded
        self._files, self._stamps, self._log = files, stamps, log
        self._current = loaded
        self.context.sni_callback = self._choose

    def reload_if_changed(self) -> None:
        """Read the files again if they have changed."""
        if _stamp_files(self._files) != self._stamps:
            self.reload()

    def reload(self) -> None:
        """Read the files again. If they cannot be used, keep the certificate and log that once."""
        self._stamps = _stamp_files(self._files)  # first, so that a change during reading is noticed
        fields: dict[str, object] = {"files": self._files}
        try:
            self._current = _load_context(self._files)
        except (OSError, ssl.SSLError) as error:
            fields["error"] = str(error)
            self._log.error("cannot use the new certificate", extra={"fields": fields})
        else:
            self._log.info("the certificate was reloaded", extra={"fields": fields})

    def _choose(self, connection: ssl.SSLObject, _name: str, _context: ssl.SSLContext) -> None:
        """Set the current context on a connection; OpenSSL calls this with and without a server name."""
        connection.context = self._current


def load_certificate(files: CertificateFiles, log: Logger) -> Certificate:
    """Load a certificate and its key. Raise GitcfgError if they cannot be used."""
    stamps = _stamp_files(files)
    try:
        return Certificate(files, _load_context(files), stamps, log)
    except (OSError, ssl.SSLError) as error:
        hint = "Use PEM files, and a key without a password."
        raise GitcfgError(f"Cannot use the certificate: {_explain(files, error)}.", hint) from None


def _explain(files: CertificateFiles, error: OSError) -> str:
    """Return the file that cannot be read with the reason, which OpenSSL does not report."""
    for file in files:
        try:
            open(file, "rb").close()
        except OSError as unread:
            return f"{file}: {unread.strerror}"
    return f"{' and '.join(files)}: {getattr(error, 'reason', None) or error}"


def _load_context(files: CertificateFiles) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files, password=_password)
    return context


def _password() -> str:
    """Fail instead of asking for a password, because OpenSSL would wait for it on the terminal."""
    raise ssl.SSLError("the key has a password")


def _stamp_files(files: CertificateFiles) -> tuple[object, ...]:
    """Return a key that changes when files are replaced."""
    return tuple(map(_stamp_file, files))


def _stamp_file(file: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


# The web application and its connections, run until a signal: requests are counted, logged and answered.

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Boundary = Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]
"""The handler of unexpected exceptions, which is the only place that catches all of them."""
HEAD_SECONDS = 20.0
"""Seconds until the first request of a connection must be complete."""
_FINISH = 10.0
_LOOK = 2.0
_LINGER = 1.0  # seconds in which the unread rest of a body is read


def make_application(
    service: Service, boundary: Boundary, trusted: Sequence[Network] = ()
) -> web.Application:
    """Make the application of a service behind trusted proxies."""
    warned = False

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        nonlocal warned
        begun = asyncio.get_running_loop().time()
        origin = request[ORIGIN] = find_origin(request, trusted)
        if origin.disbelieved and not warned:  # once, because anyone can send such headers
            warned = True
            fields = {"from": origin.address, "hint": "Set `--trusted-proxy` if this is your proxy."}
            service.log.warning("a proxy that is not trusted", extra={"fields": fields})
        response = await _answer(request, handler, boundary)
        # Only nodes: a person with a token asks for names of any kind, and headers cannot hold all of these.
        if "Signature-Input" in request.headers and isinstance(response, web.Response):
            service.key.sign(request, response, request.get(ABOUT, AnswerSubject()), service.clock())
        _log_request(service, request, response, asyncio.get_running_loop().time() - begun)
        return response

    app = web.Application(middlewares=[answer], client_max_size=64 * 1024)
    app[SERVICE] = service
    app.add_routes([*routes(), *pages.routes()])
    app.on_shutdown.append(_release_waiting)
    app.on_response_prepare.append(_set_server_header)
    return app


async def _set_server_header(request: web.Request, response: web.StreamResponse) -> None:
    """Hide the version of aiohttp in all answers, including those of aiohttp itself."""
    response.headers[SERVER] = NAME


async def _release_waiting(app: web.Application) -> None:
    app[SERVICE].release_waiting()


async def _answer(request: web.Request, handler: Handler, boundary: Boundary) -> web.StreamResponse:
    try:
        return await boundary(request, handler)
    except Problem as problem:
        return await _problem_response(request, problem)
    except web.HTTPException as error:
        return await _problem_response(request, problem_from_http(error))
    except GitcfgError as error:
        request.app[SERVICE].log.error("a request failed", extra={"fields": {"error": error.message}})
        return await _problem_response(request, Problem("unavailable", headers={"Retry-After": "5"}))


async def _problem_response(request: web.Request, problem: Problem) -> web.Response:
    """Answer with a problem: a page for browsers, JSON otherwise."""
    return await problem_page_response(request, problem) or problem_response(problem)


def _log_request(
    service: Service, request: web.Request, response: web.StreamResponse, seconds: float
) -> None:
    resource = request.match_info.route.resource
    route = resource.canonical if resource is not None else "none"
    waited = "wait" in request.query or route == "/v1/events"
    service.metrics.answered(request.method, route, response.status, None if waited else seconds)
    size = None  # for a stream
    if isinstance(response, web.Response):
        size = len(response.body) if isinstance(response.body, bytes) else 0
    fields: dict[str, Any] = {
        "method": request.method,
        "path": request.raw_path[:500],
        "status": response.status,
        "ms": round(seconds * 1000, 1),
        "who": request.get(WHO, ""),
        "from": request[ORIGIN].address,
        "bytes": size,
    }
    service.log.info("request", extra={"fields": fields})


class TimedConnection(RequestHandler):
    """A connection that is closed if its first request does not come in time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        asyncio.get_running_loop().call_later(HEAD_SECONDS, self._begun)

    def _begun(self) -> None:
        if self.transport is not None and not self._request_count:
            self.transport.close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Hide the cause of the error: neither the request nor the place in the code is shown."""
        answer = super().handle_error(request, status, exc, message)
        kind = problem_from_http(web.HTTPBadRequest()) if status < 500 else Problem("fault")
        problem = web.Response(
            status=status, body=problem_to_json(kind), content_type=CONTENT_TYPE, headers={SERVER: NAME}
        )
        if answer.keep_alive is False:
            problem.force_close()
        return problem


class _Server(web.Server):
    def __call__(self) -> RequestHandler:
        return TimedConnection(self, loop=self._loop, **self._kwargs)


def use_timed_connections(runner: web.AppRunner) -> None:
    """Let a runner's server use connections with a time limit."""
    assert runner.server is not None
    runner.server.__class__ = _Server


class ListenOptions(msgspec.Struct, frozen=True):
    """The address to listen on, the certificate, and the trusted proxies."""

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

    watcher = service.state.listen(partial(loop.call_soon_threadsafe, controller.wake))
    loops = asyncio.create_task(run_loops(controller, reader))
    renewal = asyncio.create_task(_watch_certificate(tls))
    try:
        ready(await _listen(runner, listen, tls))
        stop = asyncio.create_task(ended.wait())
        await asyncio.wait({stop, loops}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
    finally:
        watcher.close()
        renewal.cancel()
        await runner.cleanup()
        loops.cancel()
        with suppress(asyncio.CancelledError):
            await loops
        service.close()


def _handle_signals(tls: Certificate | None) -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set. SIGHUP reads the certificate again, if there is one."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    loop.add_signal_handler(signal.SIGHUP, tls.reload if tls is not None else lambda: None)
    return ended


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
