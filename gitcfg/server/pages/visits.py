"""Visitors: sessions in cookies, and forms that only a page of this server can have sent."""

import re
import secrets
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import parse_qsl

from aiohttp import web

from gitcfg.server.callers import WHO, read_body
from gitcfg.server.problems import Problem
from gitcfg.server.sessions import SESSION, cookie_name, find_session_holder, is_secure, read_session
from gitcfg.state import Role
from gitcfg.state.sessions import LONGEST
from gitcfg.web import Visitor

_MOST_BYTES = 4096
_MOST_FIELDS = 8
_LOGIN_COOKIE = "gitcfg-login"
_LOGIN_ID = re.compile(r"[A-Za-z0-9_-]{43}")
_ORIGINS = ("same-origin", "none")


async def find_visitor(request: web.Request) -> Visitor | None:
    """Return the visitor of a session; None if not logged in."""
    session = read_session(request)
    token = await find_session_holder(request)
    if token is None:
        return None
    request[WHO] = f"token {token.name}"
    return Visitor(token.name, token.role is Role.OPERATE, csrf_token(session))


def csrf_token(session: str) -> str:
    """Return the CSRF token of a session, which only its own pages can know."""
    return sha256(f"gitcfg form {session}".encode()).hexdigest()


async def read_form(request: web.Request, session: str) -> dict[str, str]:
    """Read a form. Raise Problem if it is malformed, or no page of this session has sent it."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise Problem("malformed", "It is no form.")
    body = await read_body(request, _MOST_BYTES)
    try:
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise Problem("malformed", "It is no form.") from None
    if not session or request.headers.get("Sec-Fetch-Site", "none") not in _ORIGINS:
        raise Problem("forged")
    if not compare_digest(fields.get("csrf", "").encode(), csrf_token(session).encode()):
        raise Problem("forged")
    return fields


def set_session_cookie(
    request: web.Request, response: web.Response, session: str, seconds: float = LONGEST
) -> None:
    """Set the session cookie; without any time left, delete it."""
    _set_cookie(request, response, SESSION, session, seconds)


def read_login_cookie(request: web.Request) -> str:
    """Read the cookie of a browser that has not logged in yet; "" if none."""
    found = request.cookies.get(cookie_name(request, _LOGIN_COOKIE), "")
    return found if _LOGIN_ID.fullmatch(found) else ""


def find_or_make_login_id(request: web.Request) -> str:
    """Return the id in that cookie, or a new one: the form to log in is protected too."""
    return read_login_cookie(request) or secrets.token_urlsafe(32)


def set_login_cookie(request: web.Request, response: web.Response, known: str, seconds: float) -> None:
    """Set the cookie of a browser that has not logged in yet."""
    _set_cookie(request, response, _LOGIN_COOKIE, known, seconds)


def local_address(address: str) -> str:
    """Return a path of this server to go on to; "/" instead of any other address."""
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
