"""Logging in with a token, and out."""

from aiohttp import web

from gitcfg.server.pages import visits
from gitcfg.server.pages.shown import elsewhere, html
from gitcfg.server.proxies import ORIGIN
from gitcfg.server.service import SERVICE
from gitcfg.server.sessions import session_of
from gitcfg.state.tokens import PREFIX
from gitcfg.web.content import LoginPage

_SECONDS = 3600.0  # so long a form to log in may stand open
_LONGEST = 200


async def ask(request: web.Request) -> web.StreamResponse:
    """The form; who has logged in needs none."""
    onward = visits.here(request.query.get("onward", ""))
    if await visits.visitor(request) is not None:
        return elsewhere(onward)
    return await _form(request, onward)


async def log_in(request: web.Request) -> web.StreamResponse:
    """Begin a session, if it is somebody's token."""
    service, stranger = request.app[SERVICE], visits.stranger(request)
    fields = await visits.form(request, stranger)
    token, onward = fields.get("token", "").strip(), visits.here(fields.get("onward", ""))
    session = None
    if token.startswith(PREFIX) and len(token) <= _LONGEST:
        session = await service.conductor.ask(lambda state: state.sessions.begin(token, service.clock()))
    if session is None:
        service.log.warning("nobody's token", extra={"said": {"from": request[ORIGIN].address}})
        return await _form(request, onward, "That is nobody's token.", 403)
    answer = elsewhere(onward)
    visits.keep(request, answer, session)
    return answer


async def log_out(request: web.Request) -> web.StreamResponse:
    """End a session, here and in the browser."""
    session = session_of(request)
    await visits.form(request, session)
    await request.app[SERVICE].conductor.ask(lambda state: state.sessions.end(session))
    answer = elsewhere("/login")
    visits.keep(request, answer, "", 0)
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer


async def _form(request: web.Request, onward: str, wrong: str = "", status: int = 200) -> web.Response:
    stranger = visits.meet(request)
    answer = await html(request, LoginPage(visits.proof(stranger), onward, wrong), status)
    visits.keep_stranger(request, answer, stranger, _SECONDS)
    return answer


ROUTES = [web.get("/login", ask), web.post("/login", log_in), web.post("/logout", log_out)]
