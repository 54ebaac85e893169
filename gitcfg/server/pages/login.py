"""Log in with a token, and log out."""

from aiohttp import web

from gitcfg.server.pages import visits
from gitcfg.server.pages.shown import html_response, redirect
from gitcfg.server.proxies import ORIGIN
from gitcfg.server.service import SERVICE
from gitcfg.server.sessions import read_session
from gitcfg.state.tokens import PREFIX
from gitcfg.web.content import LoginPage

_SECONDS = 3600.0  # so long a form to log in may stand open
_LONGEST = 200


async def show_login(request: web.Request) -> web.StreamResponse:
    """Show the form to log in; a visitor who has is redirected."""
    onward = visits.local_address(request.query.get("onward", ""))
    if await visits.find_visitor(request) is not None:
        return redirect(onward)
    return await _login_form(request, onward)


async def log_in(request: web.Request) -> web.StreamResponse:
    """Begin a session, if the token is valid."""
    service, stranger = request.app[SERVICE], visits.read_login_cookie(request)
    fields = await visits.read_form(request, stranger)
    token, onward = fields.get("token", "").strip(), visits.local_address(fields.get("onward", ""))
    session = None
    if token.startswith(PREFIX) and len(token) <= _LONGEST:
        session = await service.controller.with_state(
            lambda state: state.sessions.begin(token, service.clock())
        )
    if session is None:
        service.log.warning("nobody's token", extra={"fields": {"from": request[ORIGIN].address}})
        return await _login_form(request, onward, "That is nobody's token.", 403)
    answer = redirect(onward)
    visits.set_session_cookie(request, answer, session)
    return answer


async def log_out(request: web.Request) -> web.StreamResponse:
    """End a session, here and in the browser."""
    session = read_session(request)
    await visits.read_form(request, session)
    await request.app[SERVICE].controller.with_state(lambda state: state.sessions.end(session))
    answer = redirect("/login")
    visits.set_session_cookie(request, answer, "", 0)
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


async def _login_form(request: web.Request, onward: str, wrong: str = "", status: int = 200) -> web.Response:
    stranger = visits.find_or_make_login_id(request)
    answer = await html_response(request, LoginPage(visits.csrf_token(stranger), onward, wrong), status)
    visits.set_login_cookie(request, answer, stranger, _SECONDS)
    return answer


ROUTES = [web.get("/login", show_login), web.post("/login", log_in), web.post("/logout", log_out)]
