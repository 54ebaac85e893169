"""The pages to log in with a token, and to log out."""

from aiohttp import web

from gitcfg.server.auth import (
    read_session,
)
from gitcfg.server.http import ORIGIN
from gitcfg.server.pages.base import (
    csrf_token,
    find_or_make_login_id,
    find_visitor,
    html_response,
    local_address,
    read_form,
    read_login_cookie,
    redirect,
    set_login_cookie,
    set_session_cookie,
)
from gitcfg.server.service import SERVICE
from gitcfg.state.tokens import PREFIX
from gitcfg.web.content import LoginPage

_SECONDS = 3600.0  # so long a form to log in may stand open
_LONGEST = 200


async def show_login(request: web.Request) -> web.StreamResponse:
    """Show the form to log in; a visitor who has is redirected."""
    onward = local_address(request.query.get("onward", ""))
    if await find_visitor(request) is not None:
        return redirect(onward)
    return await _login_form(request, onward)


async def log_in(request: web.Request) -> web.StreamResponse:
    """Begin a session, if the token is valid."""
    service, stranger = request.app[SERVICE], read_login_cookie(request)
    fields = await read_form(request, stranger)
    token, onward = fields.get("token", "").strip(), local_address(fields.get("onward", ""))
    session = None
    if token.startswith(PREFIX) and len(token) <= _LONGEST:
        session = await service.controller.with_state(
            lambda state: state.sessions.begin(token, service.clock())
        )
    if session is None:
        service.log.warning("nobody's token", extra={"fields": {"from": request[ORIGIN].address}})
        return await _login_form(request, onward, "That is nobody's token.", 403)
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
    stranger = find_or_make_login_id(request)
    answer = await html_response(request, LoginPage(csrf_token(stranger), onward, wrong), status)
    set_login_cookie(request, answer, stranger, _SECONDS)
    return answer


ROUTES = [
    web.get("/login", show_login),
    web.post("/login", log_in),
    web.post("/logout", log_out),
]
