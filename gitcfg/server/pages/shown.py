"""Responses that are pages, with headers that restrict a browser to showing them."""

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import quote

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.server.pages.visits import find_visitor, local_address
from gitcfg.server.problems import Problem
from gitcfg.server.service import SERVICE, Service
from gitcfg.web import POLICY, Frame, Visitor, render_page
from gitcfg.web.content import ProblemPage, RedirectPage

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_NO_PAGES = ("/v1/", "/metrics", "/healthz", "/readyz", "/openapi.json", "/assets/")
_VISITOR = web.RequestKey("visitor", Visitor)
Page = Callable[[web.Request], Awaitable[msgspec.Struct]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def page_handler(load: Page) -> Handler:
    """Make the handler of a page for visitors; others are asked to log in."""

    async def handler(request: web.Request) -> web.StreamResponse:
        if await admit_visitor(request) is None:
            if request.headers.get("Sec-Fetch-Site") == "cross-site":
                # Browsers say no cookie where another site leads here; from a page of ours they do.
                return await html_response(request, RedirectPage(local_address(request.raw_path)))
            return redirect(f"/login?onward={quote(request.raw_path, safe='')}")
        return await html_response(request, await load(request))

    return handler


async def admit_visitor(request: web.Request) -> Visitor | None:
    """Return the visitor of a request and remember it; None if not logged in."""
    found = await find_visitor(request)
    if found is not None:
        request[_VISITOR] = found
    return found


async def html_response(request: web.Request, content: msgspec.Struct, status: int = 200) -> web.Response:
    """Answer with a page; rendered in a thread, so that a large one does not block others."""
    text = await asyncio.to_thread(render_page, _make_frame(request), content)
    return web.Response(text=text, status=status, content_type="text/html", headers=HEADERS)


def redirect(address: str) -> web.Response:
    """Redirect to another page."""
    return web.Response(status=303, headers={**HEADERS, "Location": address})


async def problem_page_response(request: web.Request, problem: Problem) -> web.Response | None:
    """Answer with a problem as a page; None if the client wants no page."""
    if request.path.startswith(_NO_PAGES) or "text/html" not in request.headers.get("Accept", ""):
        return None
    if problem.status < 500:  # the way on is in the header; what the server cannot do it need not ask for
        await _recognize_visitor(request)
    answer = await html_response(
        request, ProblemPage(problem.status, problem.title, problem.detail), problem.status
    )
    answer.headers.update(
        {name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"}
    )
    return answer


async def _recognize_visitor(request: web.Request) -> None:
    """Remember who is looking, if the database can tell."""
    if _VISITOR in request:
        return
    try:
        await admit_visitor(request)
    except GitcfgError:
        return


def _make_frame(request: web.Request) -> Frame:
    service, found = request.app[SERVICE], request.get(_VISITOR)
    if found is None:
        return Frame(service.clock())
    view = service.controller.view
    accepted = view.accepted if view is not None else None
    sought = request.query.get("q", "")[:200] if request.path == "/search" else ""
    judged = service.controller.judged
    invalid = (judged.tip.commit or "") if judged is not None and judged.errors else ""
    return Frame(service.clock(), found, accepted, _find_warning(service), invalid, sought)


def _find_warning(service: Service) -> str:
    controller = service.controller
    if controller.failing:
        return f"The server fails: {controller.failing} What is shown may be old."
    judged = controller.judged
    if judged is not None and judged.errors:
        return f"The tip of {judged.tip.ref} is invalid, and does not count: {judged.message}"
    return ""
