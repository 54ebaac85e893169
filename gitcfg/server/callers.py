"""Who asks, and may they: nodes by their signatures, people and programs by their tokens."""

import asyncio

import msgspec
from aiohttp import web

from gitcfg.server.problems import Problem
from gitcfg.server.proxies import ORIGIN
from gitcfg.server.service import SERVICE, Service
from gitcfg.server.signed import Signed, signed
from gitcfg.server.signing import About
from gitcfg.state import Role, Token
from gitcfg.state.tokens import PREFIX

BODY_SECONDS = 10.0
ABOUT = web.RequestKey("about", About)
WHO = web.RequestKey("who", str)
_TRUST = 5.0  # a token that was revoked counts for so many seconds more
_LONGEST = 200


class Caller(msgspec.Struct, frozen=True):
    """Who asks: a node, or who holds a token."""

    node: Signed | None = None
    token: Token | None = None


async def body_of(request: web.Request, most: int) -> bytes:
    """A request's body. Problem: it is too large, takes too long, or is broken."""
    if (request.content_length or 0) > most:
        raise Problem("too-large", f"At most {most} bytes are read.")
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.content.iter_any():
                parts.append(part)
                size += len(part)
                if size > most:
                    raise Problem("too-large", f"At most {most} bytes are read.")
    except TimeoutError:
        raise Problem("slow") from None
    except web.RequestPayloadError:
        raise Problem("malformed", "The body is not in the encoding that its headers say.") from None
    return b"".join(parts)


async def caller(request: web.Request, body: bytes = b"") -> Caller:
    """Who asks. Problem: nobody whom the server knows."""
    service = request.app[SERVICE]
    if "Signature-Input" in request.headers:
        try:
            found = signed(request, body, service.view.keys, service.clock())
        except Problem:
            await service.others.note(request, body)
            raise
        request[WHO] = f"node {found.node}"
        if found.known or found.node in service.conductor.roll.nodes:
            service.limits.count(found.node, service.clock())
        request[ABOUT] = About(node=found.node)
        return Caller(node=found)
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer":
        holder = await _holder(service, token.strip())
        request[WHO] = f"token {holder.name}"
        return Caller(token=holder)
    raise Problem("unauthorized")


async def reader(request: web.Request, role: Role = Role.READ) -> Token:
    """Who holds a token that may look, or more. Problem: to anybody else there is nothing here."""
    found = await caller(request)
    if found.token is None or (role is Role.OPERATE and found.token.role is not Role.OPERATE):
        raise Problem("not-found")
    return found.token


async def of_node(request: web.Request, node: str, body: bytes = b"") -> Caller:
    """The node itself, or who may look. Problem: to anybody else there is no such node."""
    found = await caller(request, body)
    if found.node is None:
        return found
    if found.node.node != node:
        raise Problem("not-found")
    if not found.node.known:
        await request.app[SERVICE].strangers.admit(found.node, request[ORIGIN].address)
    return found


async def _holder(service: Service, token: str) -> Token:
    now, kept = service.clock(), service.tokens
    found = kept.get(token)
    if found is not None and now - found[0] < _TRUST:
        return found[1]
    if not token.startswith(PREFIX) or len(token) > _LONGEST:
        raise Problem("unauthorized")
    holder = await service.conductor.ask(lambda state: state.tokens.holder(token, now))
    if holder is None:
        kept.pop(token, None)
        raise Problem("unauthorized")
    kept[token] = (now, holder)
    while len(kept) > _LONGEST:
        kept.popitem(last=False)
    return holder
