"""Sessions of browsers: the cookie that says one, and who began it."""

from aiohttp import web

from gitcfg.server.proxies import ORIGIN
from gitcfg.server.service import SERVICE
from gitcfg.state import Token

SESSION = "gitcfg"
_LONGEST = 100


async def holder(request: web.Request) -> Token | None:
    """Whose token began the session that a browser is in; None: nobody's."""
    service, session = request.app[SERVICE], session_of(request)
    if not session or len(session) > _LONGEST:
        return None
    return await service.conductor.ask(lambda state: state.sessions.holder(session, service.clock()))


def session_of(request: web.Request) -> str:
    """The session that a cookie says; "": none."""
    return request.cookies.get(cookie(request, SESSION), "")


def cookie(request: web.Request, name: str) -> str:
    """A cookie's name: over TLS one that browsers take over TLS alone, and from no other host."""
    return f"__Host-{name}" if secure(request) else name


def secure(request: web.Request) -> bool:
    """Over TLS, to this server or to a proxy that is trusted?"""
    return request[ORIGIN].secure
