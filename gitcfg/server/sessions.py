"""Sessions of browsers: the cookie that holds one, and the token that began it."""

from aiohttp import web

from gitcfg.server.proxies import ORIGIN
from gitcfg.server.service import SERVICE
from gitcfg.state import Token

SESSION = "gitcfg"
_LONGEST = 100


async def find_session_holder(request: web.Request) -> Token | None:
    """Return the token that began the browser's session; None if there is none."""
    service, session = request.app[SERVICE], read_session(request)
    if not session or len(session) > _LONGEST:
        return None
    return await service.controller.with_state(lambda state: state.sessions.holder(session, service.clock()))


def read_session(request: web.Request) -> str:
    """Read the session from its cookie; "" if none."""
    return request.cookies.get(cookie_name(request, SESSION), "")


def cookie_name(request: web.Request, name: str) -> str:
    """Return a cookie's name; over TLS one that browsers take from this host and over TLS alone."""
    return f"__Host-{name}" if is_secure(request) else name


def is_secure(request: web.Request) -> bool:
    """Return whether a request came over TLS, to this server or to a trusted proxy."""
    return request[ORIGIN].secure
