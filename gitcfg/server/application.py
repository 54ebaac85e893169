"""The application: every request is counted and logged and, where it was signed, answered signed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.server import pages
from gitcfg.server.callers import ABOUT, WHO
from gitcfg.server.pages.shown import problem_page
from gitcfg.server.problems import NAME, SERVER, Problem, answer, of_http
from gitcfg.server.proxies import ORIGIN, Network, Origin, origin
from gitcfg.server.routes import routes
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signing import About

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Boundary = Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]
"""Answers where a handler fails as none should: the only place that catches everything."""


def application(service: Service, boundary: Boundary, trusted: Sequence[Network] = ()) -> web.Application:
    """The application of a service, behind proxies that are trusted."""
    disbelieved: list[str] = []

    def placed(request: web.Request) -> Origin:
        found = origin(request, trusted)
        if found.disbelieved and not disbelieved:  # once: anybody can send such headers
            disbelieved.append(found.address)
            hint = "--trusted-proxy, if that is a proxy of yours"
            said = {"from": found.address, "hint": hint}
            service.log.warning("a proxy that is not trusted", extra={"said": said})
        return found

    @web.middleware
    async def answering(request: web.Request, handler: Handler) -> web.StreamResponse:
        begun = asyncio.get_running_loop().time()
        request[ORIGIN] = placed(request)
        response = await _answered(request, handler, boundary)
        # As callers see it: who has a token asks for names of any kind, and no header holds all of them.
        if "Signature-Input" in request.headers and isinstance(response, web.Response):
            service.key.sign(request, response, request.get(ABOUT, About()), service.clock())
        _note(service, request, response, asyncio.get_running_loop().time() - begun)
        return response

    app = web.Application(middlewares=[answering], client_max_size=64 * 1024)
    app[SERVICE] = service
    app.add_routes([*routes(), *pages.routes()])
    app.on_shutdown.append(_hush)
    app.on_response_prepare.append(_named)
    return app


async def _named(request: web.Request, response: web.StreamResponse) -> None:
    """Whatever answers, aiohttp itself included: which versions run here is nobody's business."""
    response.headers[SERVER] = NAME


async def _hush(app: web.Application) -> None:
    app[SERVICE].hush()


async def _answered(request: web.Request, handler: Handler, boundary: Boundary) -> web.StreamResponse:
    try:
        return await boundary(request, handler)
    except Problem as problem:
        return await _told(request, problem)
    except web.HTTPException as error:
        return await _told(request, of_http(error))
    except GitcfgError as error:
        request.app[SERVICE].log.error("a request fails", extra={"said": {"error": error.message}})
        return await _told(request, Problem("unavailable", headers={"Retry-After": "5"}))


async def _told(request: web.Request, problem: Problem) -> web.Response:
    """A problem as JSON, but as a page for who looks at pages."""
    return await problem_page(request, problem) or answer(problem)


def _size(response: web.StreamResponse) -> int | None:
    """How many bytes an answer has; None: it is a stream."""
    body = response.body if isinstance(response, web.Response) else None
    return len(body) if isinstance(body, bytes) else 0 if isinstance(response, web.Response) else None


def _note(service: Service, request: web.Request, response: web.StreamResponse, seconds: float) -> None:
    resource = request.match_info.route.resource
    route = resource.canonical if resource is not None else "none"
    waited = "wait" in request.query or route == "/v1/events"
    service.metrics.answered(request.method, route, response.status, None if waited else seconds)
    said: dict[str, Any] = {
        "method": request.method,
        "path": request.raw_path[:500],
        "status": response.status,
        "ms": round(seconds * 1000, 1),
        "who": request.get(WHO, ""),
        "from": request[ORIGIN].address,
        "bytes": _size(response),
    }
    service.log.info("request", extra={"said": said})
