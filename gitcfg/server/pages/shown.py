"""Answers that are pages, with the headers that let a browser do nothing but show them."""

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import quote

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.server.pages.visits import here, visitor
from gitcfg.server.problems import Problem
from gitcfg.server.service import SERVICE, Service
from gitcfg.web import POLICY, Frame, Visitor, page
from gitcfg.web.content import OnwardPage, ProblemPage

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


def shown(said: Page) -> Handler:
    """A page for who has logged in; everybody else is asked to."""

    async def handler(request: web.Request) -> web.StreamResponse:
        if await admitted(request) is None:
            if request.headers.get("Sec-Fetch-Site") == "cross-site":
                # Browsers say no cookie where another site leads here; from a page of ours they do.
                return await html(request, OnwardPage(here(request.raw_path)))
            return elsewhere(f"/login?onward={quote(request.raw_path, safe='')}")
        return await html(request, await said(request))

    return handler


async def admitted(request: web.Request) -> Visitor | None:
    """Who looks, if they may."""
    found = await visitor(request)
    if found is not None:
        request[_VISITOR] = found
    return found


async def html(request: web.Request, said: msgspec.Struct, status: int = 200) -> web.Response:
    """A page as an answer; made in a thread, so that nobody else waits for a large one."""
    text = await asyncio.to_thread(page, _frame(request), said)
    return web.Response(text=text, status=status, content_type="text/html", headers=HEADERS)


def elsewhere(address: str) -> web.Response:
    """Go and look there."""
    return web.Response(status=303, headers={**HEADERS, "Location": address})


async def problem_page(request: web.Request, problem: Problem) -> web.Response | None:
    """A problem as a page; None: whoever asks reads no pages, or asks for something else."""
    if request.path.startswith(_NO_PAGES) or "text/html" not in request.headers.get("Accept", ""):
        return None
    if problem.status < 500:  # the way on is in the header; what the server cannot do it need not ask for
        await _recognized(request)
    answer = await html(request, ProblemPage(problem.status, problem.title, problem.detail), problem.status)
    answer.headers.update(
        {name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"}
    )
    return answer


async def _recognized(request: web.Request) -> None:
    """Know who looks, where that can be found out: no page is there to be seen yet."""
    if _VISITOR in request:
        return
    try:
        await admitted(request)
    except GitcfgError:
        return


def _frame(request: web.Request) -> Frame:
    service, found = request.app[SERVICE], request.get(_VISITOR)
    if found is None:
        return Frame(service.clock())
    view = service.conductor.view
    accepted = view.accepted if view is not None else None
    sought = request.query.get("q", "")[:200] if request.path == "/search" else ""
    judged = service.conductor.judged
    invalid = (judged.tip.commit or "") if judged is not None and judged.errors else ""
    return Frame(service.clock(), found, accepted, _warning(service), invalid, sought)


def _warning(service: Service) -> str:
    conductor = service.conductor
    if conductor.failing:
        return f"The server fails: {conductor.failing} What is shown may be old."
    judged = conductor.judged
    if judged is not None and judged.errors:
        return f"The tip of {judged.tip.ref} is invalid, and does not count: {judged.message}"
    return ""
