"""Who looks at a page: sessions in cookies, and forms that only a page of the server itself can have sent."""

import re
import secrets
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import parse_qsl

from aiohttp import web

from gitcfg.server.callers import WHO, body_of
from gitcfg.server.problems import Problem
from gitcfg.server.sessions import SESSION, cookie, holder, secure, session_of
from gitcfg.state import Role
from gitcfg.state.sessions import LONGEST
from gitcfg.web import Visitor

_MOST_BYTES = 4096
_MOST_FIELDS = 8
_STRANGER = "gitcfg-login"
_KNOWN = re.compile(r"[A-Za-z0-9_-]{43}")
_ORIGINS = ("same-origin", "none")


async def visitor(request: web.Request) -> Visitor | None:
    """Who has logged in here; None: nobody."""
    session = session_of(request)
    token = await holder(request)
    if token is None:
        return None
    request[WHO] = f"token {token.name}"
    return Visitor(token.name, token.role is Role.OPERATE, proof(session))


def proof(session: str) -> str:
    """What stands in a session's forms: nobody can say it who does not know the session."""
    return sha256(f"gitcfg form {session}".encode()).hexdigest()


async def form(request: web.Request, session: str) -> dict[str, str]:
    """The fields of a form. Problem: it is none, or no page of this session has sent it."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise Problem("malformed", "It is no form.")
    body = await body_of(request, _MOST_BYTES)
    try:
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise Problem("malformed", "It is no form.") from None
    if not session or request.headers.get("Sec-Fetch-Site", "none") not in _ORIGINS:
        raise Problem("forged")
    if not compare_digest(fields.get("csrf", "").encode(), proof(session).encode()):
        raise Problem("forged")
    return fields


def keep(request: web.Request, response: web.Response, session: str, seconds: float = LONGEST) -> None:
    """Let a browser keep a session; without any time left, forget it."""
    _set(request, response, SESSION, session, seconds)


def stranger(request: web.Request) -> str:
    """By what a browser is known that has not logged in yet; "": by nothing."""
    found = request.cookies.get(cookie(request, _STRANGER), "")
    return found if _KNOWN.fullmatch(found) else ""


def meet(request: web.Request) -> str:
    """The same, or something new: the form to log in is nobody else's, too."""
    return stranger(request) or secrets.token_urlsafe(32)


def keep_stranger(request: web.Request, response: web.Response, known: str, seconds: float) -> None:
    """Let a browser be known, though nobody has logged in."""
    _set(request, response, _STRANGER, known, seconds)


def here(said: str) -> str:
    """Where to go on: to a page of this server, and nowhere else."""
    plain = said.isascii() and said.isprintable() and "\\" not in said and len(said) <= 2000
    page = said.startswith("/") and not said.startswith(("//", "/login", "/logout"))
    return said if plain and page else "/"


def _set(request: web.Request, response: web.Response, name: str, value: str, seconds: float) -> None:
    """A cookie out of the reach of scripts, and that is said to no page which another site leads to."""
    response.set_cookie(
        cookie(request, name),
        value,
        max_age=int(seconds),
        path="/",
        httponly=True,
        samesite="Strict",
        secure=secure(request),
    )
