"""Signatures of requests (RFC 9421): the line that says what is signed, and what is signed."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from .identity import Identity

LABEL = "gitcfg"
ALGORITHM = "ed25519"


class Request(NamedTuple):
    """A request. `path` and `query` are as they go over the line; `body` is None where there is none."""

    method: str
    path: str
    query: str = ""
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def target(self) -> str:
        """Path and query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def header(self, name: str) -> str:
        """A header's value, or nothing."""
        return next((value for key, value in self.headers if key == name), "")


def content_digest(body: bytes) -> str:
    """The Content-Digest of a body."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def part(request: Request, name: str) -> str | None:
    """What a component of a request is worth (RFC 9421, 2.1 and 2.2); None: this program does not know it."""
    derived = {"@method": request.method, "@path": request.path, "@query": f"?{request.query}"}
    if name in derived:
        return derived[name]
    return request.header(name) or None


def base(lines: Sequence[tuple[str, str]], params: str) -> bytes:
    """The signature base: a line for each component, and the line that names them."""
    told = [f"{name}: {value}" for name, value in lines]
    return "\n".join((*told, f'"@signature-params": {params}')).encode()


def signed(request: Request, who: Identity, created: int, nonce: str = "") -> Request:
    """The request with the headers that prove who sent it. The key goes along for who does not know it."""
    headers = [*request.headers, ("gitcfg-key", who.key)]
    covered = ["@method", "@path", "@query"]
    if request.body is not None:
        headers.append(("content-digest", content_digest(request.body)))
        covered.append("content-digest")
    ready = request._replace(headers=tuple(headers))
    params = _params(covered, created, who.node, nonce)
    lines = [(f'"{name}"', part(ready, name) or "") for name in covered]
    signature = base64.b64encode(who.private.sign(base(lines, params))).decode()
    own = (("signature-input", f"{LABEL}={params}"), ("signature", f"{LABEL}=:{signature}:"))
    return ready._replace(headers=(*ready.headers, *own))


def _params(covered: Sequence[str], created: int, node: str, nonce: str) -> str:
    names = " ".join(f'"{name}"' for name in covered)
    once = f';nonce="{nonce}"' if nonce else ""
    return f'({names});created={created};keyid="{node}";alg="{ALGORITHM}"{once};tag="{LABEL}"'
