"""Common parts of all pages: visitors with login, cookies and forms; responses, commits, links, assets."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import parse_qsl, quote

import msgspec
from aiohttp import web

from gitcfg.git.history import History
from gitcfg.git.repository import Config
from gitcfg.model import GitcfgError
from gitcfg.server import fleets as source
from gitcfg.server.auth import (
    SESSION,
    WHO,
    cookie_name,
    find_session_holder,
    is_secure,
    read_body,
    read_session,
)
from gitcfg.server.fleets import FleetCache
from gitcfg.server.http import ORIGIN, Problem
from gitcfg.server.routes.commits import current_release_record
from gitcfg.server.service import SERVICE, Service
from gitcfg.state.records import Role, StoredRelease
from gitcfg.state.tokens import LONGEST, PREFIX
from gitcfg.web.content import (
    Commit,
    Frame,
    LoginPage,
    ProblemPage,
    RedirectPage,
    Release,
    SourceLinks,
    Visitor,
    parse_forge,
)
from gitcfg.web.page import POLICY, find_asset, render_page

_MOST_BYTES = 4096
_MOST_FIELDS = 8
_LOGIN_COOKIE = "gitcfg-login"
_LOGIN_ID = re.compile(r"[A-Za-z0-9_-]{43}")
_ORIGINS = ("same-origin", "none")
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
URL = "gitcfg.url"
"""In git's configuration of the repository: a file's address at a forge, with {commit}, {file} and {line}."""
_NO_PAGES = ("/v1/", "/metrics", "/healthz", "/readyz", "/openapi.json", "/assets/")
_FOREVER = "public, max-age=31536000, immutable"
_VISITOR = web.RequestKey("visitor", Visitor)
Page = Callable[[web.Request], Awaitable[msgspec.Struct]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def page_handler(load: Page) -> Handler:
    """Make the handler of a page for visitors; others are redirected to the login."""

    async def handler(request: web.Request) -> web.StreamResponse:
        if await admit_visitor(request) is None:
            if request.headers.get("Sec-Fetch-Site") == "cross-site":
                # Browsers send no cookie after a link on another site; after one on our page they do.
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
    """Answer with a page. It is rendered in a thread, so that a large one does not block others."""
    text = await asyncio.to_thread(render_page, _make_frame(request), content)
    return web.Response(text=text, status=status, content_type="text/html", headers=HEADERS)


def redirect(address: str) -> web.Response:
    """Redirect to another page."""
    return web.Response(status=303, headers={**HEADERS, "Location": address})


async def problem_page_response(request: web.Request, problem: Problem) -> web.Response | None:
    """Answer with a problem as a page; None if the client does not want a page."""
    if request.path.startswith(_NO_PAGES) or "text/html" not in request.headers.get("Accept", ""):
        return None
    # The page's header has links for visitors. If the server itself fails, it cannot look up the visitor.
    if problem.status < 500 and _VISITOR not in request:
        with suppress(GitcfgError):  # the database may fail, then the visitor is unknown
            await admit_visitor(request)
    content = ProblemPage(problem.status, problem.title, problem.detail)
    answer = await html_response(request, content, problem.status)
    answer.headers.update(
        {name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"}
    )
    return answer


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
        return f"The server has a fault: {controller.failing} This page may be out of date."
    judged = controller.judged
    if judged is not None and judged.errors:
        return f"The tip of {judged.tip.ref} is invalid and is not delivered: {judged.message}"
    return ""


async def find_visitor(request: web.Request) -> Visitor | None:
    """Return the visitor of a session; None if not logged in."""
    token = await find_session_holder(request)
    if token is None:
        return None
    request[WHO] = f"token {token.name}"
    return Visitor(token.name, token.role is Role.OPERATE, csrf_token(read_session(request)))


def csrf_token(session: str) -> str:
    """Return the CSRF token of a session, which only its own pages can know."""
    return sha256(f"gitcfg form {session}".encode()).hexdigest()


async def read_form(request: web.Request, session: str) -> dict[str, str]:
    """Read a form. Raise Problem if it is malformed, or not from a page of this session."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise Problem("malformed", "The body is not a form.")
    body = await read_body(request, _MOST_BYTES)
    try:
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise Problem("malformed", "The body is not a form.") from None
    if not session or request.headers.get("Sec-Fetch-Site", "none") not in _ORIGINS:
        raise Problem("forged")
    if not compare_digest(fields.get("csrf", "").encode(), csrf_token(session).encode()):
        raise Problem("forged")
    return fields


def set_session_cookie(
    request: web.Request, response: web.Response, session: str, seconds: float = LONGEST
) -> None:
    """Set the session cookie, or delete it if `seconds` is 0."""
    _set_cookie(request, response, SESSION, session, seconds)


def read_login_cookie(request: web.Request) -> str:
    """Read the cookie of a browser that has not logged in yet; "" if none."""
    found = request.cookies.get(cookie_name(request, _LOGIN_COOKIE), "")
    return found if _LOGIN_ID.fullmatch(found) else ""


def local_address(address: str) -> str:
    """Return a path of this server to continue at; "/" instead of any other address."""
    plain = address.isascii() and address.isprintable() and "\\" not in address and len(address) <= 2000
    page = address.startswith("/") and not address.startswith(("//", "/login", "/logout"))
    return address if plain and page else "/"


def _set_cookie(request: web.Request, response: web.Response, name: str, value: str, seconds: float) -> None:
    """Set a cookie that scripts cannot read, and that is not sent with requests from other sites."""
    response.set_cookie(
        cookie_name(request, name),
        value,
        max_age=int(seconds),
        path="/",
        httponly=True,
        samesite="Strict",
        secure=is_secure(request),
    )


async def send_asset(request: web.Request) -> web.StreamResponse:
    """Answer with an asset; these are public."""
    found = find_asset(request.match_info["name"])
    if found is None:
        raise Problem("not-found")
    headers = {"Cache-Control": _FOREVER, "X-Content-Type-Options": "nosniff"}
    headers["Content-Security-Policy"] = "default-src 'none'"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return web.Response(body=found.body, content_type=found.content_type, charset="utf-8", headers=headers)


def summarize_commits(commits: Iterable[str], fleets: FleetCache) -> Mapping[str, Commit]:
    """Summarize the commits, without those that git does not have."""
    history = History(fleets.source.repository)
    return {
        commit: summarize_commit(history, commit) for commit in dict.fromkeys(commits) if history.has(commit)
    }


def summarize_commit(history: History, commit: str) -> Commit:
    """Summarize a commit."""
    return msgspec.convert(history.about(commit), Commit, from_attributes=True)


async def make_release(service: Service, kept: StoredRelease) -> Release:
    """Return a release with its present counts."""
    commits = await service.people.run(lambda fleets: summarize_commits([kept.commit], fleets))
    subject = commits[kept.commit].subject if kept.commit in commits else ""
    return msgspec.convert({**current_release_record(service, kept), "subject": subject}, Release)


def make_links(fleets: FleetCache, commit: str) -> SourceLinks:
    """Return links to the files of a commit."""
    repository = fleets.source.repository
    return SourceLinks(commit, parse_forge(Config(repository).last(URL)), repository.prefix)


async def resolve_commit(service: Service, text: str) -> str:
    """Resolve a commit, which may be abbreviated. Raise Problem if no protected branch has it."""
    found = await service.people.run(lambda fleets: source.find_reachable(fleets.source.repository, text))
    if found is None:
        raise Problem("not-found", "No protected branch has this commit.")
    return found


# Logging in with a token, and logging out.

_SECONDS = 3600.0  # seconds for which a login form is valid
_LONGEST = 200


async def show_login(request: web.Request) -> web.StreamResponse:
    """Show the login form; redirect a visitor who is logged in."""
    onward = local_address(request.query.get("onward", ""))
    if await find_visitor(request) is not None:
        return redirect(onward)
    return await _login_form(request, onward)


async def log_in(request: web.Request) -> web.StreamResponse:
    """Begin a session, if the token is valid."""
    service = request.app[SERVICE]
    fields = await read_form(request, read_login_cookie(request))
    token, onward = fields.get("token", "").strip(), local_address(fields.get("onward", ""))
    session = None
    if token.startswith(PREFIX) and len(token) <= _LONGEST:
        session = await service.controller.with_state(
            lambda state: state.sessions.begin(token, service.clock())
        )
    if session is None:
        service.log.warning("unknown token", extra={"fields": {"from": request[ORIGIN].address}})
        return await _login_form(request, onward, "The token is not valid.", 403)
    answer = redirect(onward)
    set_session_cookie(request, answer, session)
    return answer


async def log_out(request: web.Request) -> web.StreamResponse:
    """End a session, here and in the browser."""
    session = read_session(request)
    await read_form(request, session)
    await request.app[SERVICE].controller.with_state(lambda state: state.sessions.end(session))
    answer = redirect("/login")
    set_session_cookie(request, answer, "", 0)
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


async def _login_form(request: web.Request, onward: str, wrong: str = "", status: int = 200) -> web.Response:
    login = read_login_cookie(request) or secrets.token_urlsafe(32)  # this form needs CSRF protection, too
    answer = await html_response(request, LoginPage(csrf_token(login), onward, wrong), status)
    _set_cookie(request, answer, _LOGIN_COOKIE, login, _SECONDS)
    return answer


ROUTES = [
    web.get("/login", show_login),
    web.post("/login", log_in),
    web.post("/logout", log_out),
    web.get("/assets/{name}", send_asset),
]
