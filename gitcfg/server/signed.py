"""Requests of nodes: whose signature (RFC 9421) is on them, and whether it holds."""

from collections.abc import Mapping
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import msgspec
from aiohttp import web
from http_message_signatures import HTTPMessageSignaturesException, HTTPMessageVerifier
from http_message_signatures.algorithms import ED25519
from multidict import CIMultiDict

from gitcfg.server.keyring import Keyring
from gitcfg.server.problems import Problem
from gitcfg.server.signing import LABEL, TAG
from gitcfg.server.usual import Claim, content_digest, usual

PRESENTED = "Gitcfg-Key"
"""The header in which a node says its key, by which it is pending where git has none."""
CLOCK_SECONDS = 300
_COVERED = {'"@method"', '"@path"', '"@query"'}
_DIGEST = '"content-digest"'
_READ = ("Signature-Input", "Signature", "Content-Digest")
_LONGEST = 200


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


def signed(request: web.BaseRequest, body: bytes, keys: Mapping[str, str], now: float) -> Signed:
    """Who signed a request. Problem: nobody whom that can be said of."""
    keyring = Keyring(keys, request.headers.get(PRESENTED, "")[:_LONGEST])
    found = usual(request, body, keyring) or judged(request, body, keyring)
    if abs(found.created - now) > CLOCK_SECONDS:
        raise Problem("clock", "Sign with the time that the header Date says.")
    if request.method != "GET" and not 8 <= len(found.nonce) <= _LONGEST:
        raise Problem("unauthorized", "What changes something is signed with a nonce of its own.")
    return Signed(found.node, keyring.text, keyring.known, found.nonce)


def judged(request: web.BaseRequest, body: bytes, keyring: Keyring) -> Claim:
    """What a request's signature says, as the library reads it. Problem: it does not hold."""
    verifier = _Verifier(signature_algorithm=ED25519, key_resolver=keyring)
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
    said = found.parameters
    return Claim(str(said["keyid"]), int(said["created"]), found.nonce or "")


def _headers(request: web.BaseRequest) -> CIMultiDict[str]:
    """Those that may be signed: to look at all the others took as long as the signature itself."""
    headers = request.headers
    return CIMultiDict((name, value) for name in _READ for value in headers.getall(name, ()))


def _whole(said: str | None, body: bytes) -> bool:
    """Is the body the one whose digest was signed? A request without a body needs none."""
    return not body if said is None else said == content_digest(body)
