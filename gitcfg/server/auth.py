"""Authentication: nodes by their signatures, people and programs by their tokens."""

import asyncio

import msgspec
from aiohttp import web

from gitcfg.server.http import ORIGIN, Problem
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signatures import AnswerSubject, SignedRequest, verify_request
from gitcfg.state.records import Role, Token
from gitcfg.state.tokens import PREFIX

BODY_SECONDS = 10.0
ABOUT = web.RequestKey("about", AnswerSubject)
WHO = web.RequestKey("who", str)
SESSION = "gitcfg"
"""The cookie of a browser's session."""
_TRUST = 5.0  # seconds for which a revoked token is still valid
_LONGEST = 200


class Caller(msgspec.Struct, frozen=True):
    """The authenticated client: a node, or the holder of a token."""

    node: SignedRequest | None = None
    token: Token | None = None


async def read_body(request: web.Request, most: int) -> bytes:
    """Read a request's body. Raise Problem if it is too large, takes too long, or is broken."""
    if (request.content_length or 0) > most:
        raise Problem("too-large", f"The body is larger than {most} bytes.")
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.content.iter_any():
                parts.append(part)
                size += len(part)
                if size > most:
                    raise Problem("too-large", f"The body is larger than {most} bytes.")
    except TimeoutError:
        raise Problem("slow") from None
    except web.RequestPayloadError:
        raise Problem("malformed", "The body does not match its Content-Encoding or charset.") from None
    return b"".join(parts)


async def authenticate(request: web.Request, body: bytes = b"") -> Caller:
    """Authenticate a request by its signature or token. Raise Problem if it has neither."""
    service = request.app[SERVICE]
    if "Signature-Input" in request.headers:
        try:
            found = verify_request(request, body, service.view.keys, service.clock())
        except Problem:
            await service.other_keys.note(request, body)
            raise
        request[WHO] = f"node {found.node}"
        if found.known or found.node in service.controller.registry.nodes:
            service.limits.count(found.node, service.clock())
        request[ABOUT] = AnswerSubject(node=found.node)
        return Caller(node=found)
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer":
        holder = await _find_token(service, token.strip())
        request[WHO] = f"token {holder.name}"
        return Caller(token=holder)
    raise Problem("unauthorized")


async def require_token(request: web.Request, role: Role = Role.READ) -> Token:
    """Return the token of a request. Raise Problem (not found) if it lacks the role."""
    found = await authenticate(request)
    if found.token is None or (role is Role.OPERATE and found.token.role is not Role.OPERATE):
        raise Problem("not-found")
    return found.token


async def require_node(request: web.Request, node: str, body: bytes = b"") -> Caller:
    """Authenticate the node itself or a token. Raise Problem (not found) for any other client."""
    found = await authenticate(request, body)
    if found.node is None:
        return found
    if found.node.node != node:
        raise Problem("not-found")
    if not found.node.known:
        await request.app[SERVICE].admission.admit(found.node, request[ORIGIN].address)
    return found


async def _find_token(service: Service, token: str) -> Token:
    now, kept = service.clock(), service.tokens
    found = kept.get(token)
    if found is not None and now - found[0] < _TRUST:
        return found[1]
    if not token.startswith(PREFIX) or len(token) > _LONGEST:
        raise Problem("unauthorized")
    holder = await service.controller.with_state(lambda state: state.tokens.find_holder(token, now))
    if holder is None:
        kept.pop(token, None)
        raise Problem("unauthorized")
    kept[token] = (now, holder)
    while len(kept) > _LONGEST:
        kept.popitem(last=False)
    return holder


async def find_session_holder(request: web.Request) -> Token | None:
    """Return the token that began the browser's session; None if there is none."""
    service, session = request.app[SERVICE], read_session(request)
    if not session or len(session) > 100:
        return None
    return await service.controller.with_state(
        lambda state: state.sessions.find_holder(session, service.clock())
    )


def read_session(request: web.Request) -> str:
    """Read the session from its cookie; "" if none."""
    return request.cookies.get(cookie_name(request, SESSION), "")


def cookie_name(request: web.Request, name: str) -> str:
    """Return a cookie's name; over TLS one that browsers accept only from this host and only over TLS."""
    return f"__Host-{name}" if is_secure(request) else name


def is_secure(request: web.Request) -> bool:
    """Return whether a request came over TLS, to this server or to a trusted proxy."""
    return request[ORIGIN].secure
