"""Signatures of requests and answers (RFC 9421)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .errors import Untrusted
from .keys import Identity

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


def find_component(request: Request, name: str) -> str | None:
    """What a component of a request is worth (RFC 9421, 2.1 and 2.2); None: this program does not know it."""
    derived = {"@method": request.method, "@path": request.path, "@query": f"?{request.query}"}
    if name in derived:
        return derived[name]
    return request.header(name) or None


def signature_base(lines: Sequence[tuple[str, str]], params: str) -> bytes:
    """The signature base: a line for each component, and the line that names them."""
    parts = [f"{name}: {value}" for name, value in lines]
    return "\n".join((*parts, f'"@signature-params": {params}')).encode()


def sign_request(request: Request, who: Identity, created: int, nonce: str = "") -> Request:
    """The request with the headers that prove who sent it. The key goes along for who does not know it."""
    headers = [*request.headers, ("gitcfg-key", who.key)]
    covered = ["@method", "@path", "@query"]
    if request.body is not None:
        headers.append(("content-digest", content_digest(request.body)))
        covered.append("content-digest")
    ready = request._replace(headers=tuple(headers))
    params = _params(covered, created, who.node, nonce)
    lines = [(f'"{name}"', find_component(ready, name) or "") for name in covered]
    signature = base64.b64encode(who.private.sign(signature_base(lines, params))).decode()
    own = (("signature-input", f"{LABEL}={params}"), ("signature", f"{LABEL}=:{signature}:"))
    return ready._replace(headers=(*ready.headers, *own))


def _params(covered: Sequence[str], created: int, node: str, nonce: str) -> str:
    names = " ".join(f'"{name}"' for name in covered)
    once = f';nonce="{nonce}"' if nonce else ""
    return f'({names});created={created};keyid="{node}";alg="{ALGORITHM}"{once};tag="{LABEL}"'


# Answers count if the pinned server signed them, whole, for this very request.

REQUIRED = (
    '"@status"',
    '"content-digest"',
    '"gitcfg-node"',
    '"gitcfg-commit"',
    '"gitcfg-digest"',
    '"gitcfg-sequence"',
    '"gitcfg-rollback"',
    '"@method";req',
    '"@path";req',
    '"@query";req',
    '"signature";req',
)
"""What a signature must cover; the request's own signature ties an answer to one request of all."""

_NAME = r'"[a-z@][a-z0-9-]*"(?:;req)?'
_VALUE = r'(?:[0-9]+|"[ -!#-\[\]-~]*")'
_INPUT = re.compile(
    rf"{LABEL}=(?P<params>\((?P<names>{_NAME}(?: {_NAME})*)\)(?P<rest>(?:;[a-z]+={_VALUE})*))"
)
_PARAM = re.compile(r';([a-z]+)=(?:([0-9]+)|"([^"]*)")')
_SIGNATURE = re.compile(rf"{LABEL}=:([A-Za-z0-9+/=]+):")


class Answer(NamedTuple):
    """An answer as it came. Headers by their names in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


def verify(answer: Answer, request: Request, keys: Iterable[bytes]) -> int:
    """When the server signed (its clock). Untrusted says why the answer does not count."""
    found = _INPUT.fullmatch(answer.headers.get("signature-input", ""))
    signature = _SIGNATURE.fullmatch(answer.headers.get("signature", ""))
    if found is None or signature is None:
        raise Untrusted(f"The answer (HTTP {answer.status}) is not signed by a gitcfg server.")
    names = found["names"].split(" ")
    missing = sorted(set(REQUIRED) - set(names))
    if missing or len(names) != len(set(names)):
        raise Untrusted(
            f"The answer's signature does not cover {missing[0] if missing else 'its parts once'}."
        )
    created = _parse_created(found["rest"])
    if answer.headers.get("content-digest") != content_digest(answer.body):
        raise Untrusted("The answer's body is not the one that was signed.")
    signed = signature_base([(name, _component(answer, request, name)) for name in names], found["params"])
    if not any(_is_signed_by(key, signature[1], signed) for key in keys):
        raise Untrusted(
            "The answer is not signed by the server whose key agent.toml pins.",
            "If the server has a new key, set `server_key`.",
        )
    return created


def _parse_created(rest: str) -> int:
    params: dict[str, str] = {}
    for name, number, text in _PARAM.findall(rest):
        if name in params:
            raise Untrusted(f"The answer's signature says {name} twice.")
        params[name] = number or text
    if params.get("alg", ALGORITHM) != ALGORITHM or params.get("tag") != LABEL:
        raise Untrusted("The answer's signature is of another kind.")
    if not params.get("created", "").isdigit() or len(params["created"]) > 12:
        raise Untrusted("The answer's signature does not say when it was made.")
    return int(params["created"])


def _component(answer: Answer, request: Request, name: str) -> str:
    if name == '"@status"':
        return str(answer.status)
    plain = name.partition(";")[0].strip('"')
    value = find_component(request, plain) if name.endswith(";req") else answer.headers.get(plain)
    if value is None:
        raise Untrusted(f"The answer's signature covers {name}, which is not there.")
    return value


def _is_signed_by(key: bytes, signature: str, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(signature, validate=True), signed)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True
