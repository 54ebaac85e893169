"""Requests of nodes: whose signature (RFC 9421) is on them, and whether it holds."""

import base64
from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import msgspec
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPMessageVerifier,
    HTTPSignatureKeyResolver,
)
from http_message_signatures.algorithms import ED25519
from multidict import CIMultiDict

from gitcfg.load.keys import public_key, written
from gitcfg.model.names import HOST
from gitcfg.server.problems import Problem
from gitcfg.server.signing import LABEL, TAG

PRESENTED = "Gitcfg-Key"
"""The header in which a node says its key, by which it is pending where git has none."""
CLOCK_SECONDS = 300
_COVERED = {'"@method"', '"@path"', '"@query"'}
_DIGEST = '"content-digest"'
_READ = ("Signature-Input", "Signature", "Content-Digest")
_LONGEST = 200
# Whoever is unknown costs as much as whoever is known and signs with another key.
_NOBODY = Ed25519PrivateKey.generate().public_key()


class Signed(msgspec.Struct, frozen=True):
    """Who signed a request: a node with its key; `known`: git has that key for it."""

    node: str
    key: str
    known: bool
    nonce: str = ""


class _Verifier(HTTPMessageVerifier):
    """Leaves it to us what time it is, and says so only to whoever has the key."""

    def validate_created_and_expires(self, sig_input: Any, max_age: timedelta | None = None) -> None:
        if type(sig_input.params.get("created")) is not int:
            raise HTTPMessageSignaturesException("not created at any time")


class _Keys(HTTPSignatureKeyResolver):
    """The key of who says to have signed: git's, or for a node without one that which it presents."""

    def __init__(self, keys: Mapping[str, str], presented: str) -> None:
        self._keys = keys
        self._presented = _clean(presented)
        self.known = False
        self.text = ""

    def resolve_public_key(self, key_id: str) -> Ed25519PublicKey:
        self.text = self._keys.get(key_id, "")
        self.known = bool(self.text)
        self.text = self.text or self._presented
        return _key(self.text) if HOST.fullmatch(key_id) else _NOBODY


@lru_cache(maxsize=1 << 16)
def _key(text: str) -> Ed25519PublicKey:
    """Kept: to read one takes as long as half a signature."""
    raw = public_key(text)
    return Ed25519PublicKey.from_public_bytes(raw) if raw is not None else _NOBODY


def signed(request: web.BaseRequest, body: bytes, keys: Mapping[str, str], now: float) -> Signed:
    """Who signed a request. Problem: nobody whom that can be said of."""
    resolver = _Keys(keys, request.headers.get(PRESENTED, "")[:_LONGEST])
    verifier = _Verifier(signature_algorithm=ED25519, key_resolver=resolver)
    message = SimpleNamespace(
        method=request.method, url=f"http://server{request.raw_path}", headers=_headers(request)
    )
    try:
        (found,) = verifier.verify(message, expect_tag=TAG, expect_label=LABEL)
    except (HTTPMessageSignaturesException, ValueError, TypeError, KeyError):
        # ValueError and the like: what the library does not expect of a hostile text.
        raise Problem("unauthorized") from None
    covered = found.covered_components
    if not covered.keys() >= _COVERED or not _whole(covered.get(_DIGEST), body):
        raise Problem("unauthorized")
    if abs(int(found.parameters["created"]) - now) > CLOCK_SECONDS:
        raise Problem("clock", "Sign with the time that the header Date says.")
    nonce = found.nonce or ""
    if request.method != "GET" and not 8 <= len(nonce) <= _LONGEST:
        raise Problem("unauthorized", "What changes something is signed with a nonce of its own.")
    return Signed(str(found.parameters["keyid"]), resolver.text, resolver.known, nonce)


def _headers(request: web.BaseRequest) -> CIMultiDict[str]:
    """Those that may be signed: to look at all the others took as long as the signature itself."""
    headers = request.headers
    return CIMultiDict((name, value) for name in _READ for value in headers.getall(name, ()))


def _whole(said: str | None, body: bytes) -> bool:
    """Is the body the one whose digest was signed? A request without a body needs none."""
    if said is None:
        return not body
    return said == f"sha-256=:{base64.b64encode(sha256(body).digest()).decode()}:"


def _clean(text: str) -> str:
    """A key as git has it; nothing for what is none."""
    raw = public_key(text)
    return written(raw) if raw is not None else ""
