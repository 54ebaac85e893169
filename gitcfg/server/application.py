"""The web application: every request is counted and logged, and answered signed if it was signed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.server import pages
from gitcfg.server.callers import ABOUT, WHO
from gitcfg.server.pages.shown import problem_page_response
from gitcfg.server.problems import NAME, SERVER, Problem, problem_from_http, problem_response
from gitcfg.server.proxies import ORIGIN, Network, Origin, find_origin
from gitcfg.server.routes import routes
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signing import AnswerSubject

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Boundary = Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]
"""Answers where a handler fails as none should: the only place that catches everything."""


def make_application(
    service: Service, boundary: Boundary, trusted: Sequence[Network] = ()
) -> web.Application:
    """Make the application of a service, behind proxies that are trusted."""
    disbelieved: list[str] = []

    def placed(request: web.Request) -> Origin:
        found = find_origin(request, trusted)
        if found.disbelieved and not disbelieved:  # once: anybody can send such headers
            disbelieved.append(found.address)
            hint = "--trusted-proxy, if that is a proxy of yours"
            fields = {"from": found.address, "hint": hint}
            service.log.warning("a proxy that is not trusted", extra={"fields": fields})
        return found

    @web.middleware
    async def answering(request: web.Request, handler: Handler) -> web.StreamResponse:
        begun = asyncio.get_running_loop().time()
        request[ORIGIN] = placed(request)
        response = await _answer(request, handler, boundary)
        # As callers see it: who has a token asks for names of any kind, and no header holds all of them.
        if "Signature-Input" in request.headers and isinstance(response, web.Response):
            service.key.sign(request, response, request.get(ABOUT, AnswerSubject()), service.clock())
        _log_request(service, request, response, asyncio.get_running_loop().time() - begun)
        return response

    app = web.Application(middlewares=[answering], client_max_size=64 * 1024)
    app[SERVICE] = service
    app.add_routes([*routes(), *pages.routes()])
    app.on_shutdown.append(_release_waiting)
    app.on_response_prepare.append(_set_server_header)
    return app


async def _set_server_header(request: web.Request, response: web.StreamResponse) -> None:
    """Hide the version of aiohttp in all answers, its own included."""
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
        request.app[SERVICE].log.error("a request fails", extra={"fields": {"error": error.message}})
        return await _problem_response(request, Problem("unavailable", headers={"Retry-After": "5"}))


async def _problem_response(request: web.Request, problem: Problem) -> web.Response:
    """Answer with a problem: a page for browsers, JSON otherwise."""
    return await problem_page_response(request, problem) or problem_response(problem)


def _body_size(response: web.StreamResponse) -> int | None:
    """Return the size of an answer in bytes; None if it is a stream."""
    body = response.body if isinstance(response, web.Response) else None
    return len(body) if isinstance(body, bytes) else 0 if isinstance(response, web.Response) else None


def _log_request(
    service: Service, request: web.Request, response: web.StreamResponse, seconds: float
) -> None:
    resource = request.match_info.route.resource
    route = resource.canonical if resource is not None else "none"
    waited = "wait" in request.query or route == "/v1/events"
    service.metrics.answered(request.method, route, response.status, None if waited else seconds)
    fields: dict[str, Any] = {
        "method": request.method,
        "path": request.raw_path[:500],
        "status": response.status,
        "ms": round(seconds * 1000, 1),
        "who": request.get(WHO, ""),
        "from": request[ORIGIN].address,
        "bytes": _body_size(response),
    }
    service.log.info("request", extra={"fields": fields})
