"""Verify the signatures of nodes' requests (RFC 9421)."""

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
from gitcfg.server.usual import SignatureClaim, content_digest, verify_common_form

PRESENTED = "Gitcfg-Key"
"""The header in which a node says its key, by which it is pending where git has none."""
CLOCK_SECONDS = 300
_COVERED = {'"@method"', '"@path"', '"@query"'}
_DIGEST = '"content-digest"'
_READ = ("Signature-Input", "Signature", "Content-Digest")
_LONGEST = 200


class SignedRequest(msgspec.Struct, frozen=True):
    """The signer of a request: a node with its key; `known`: git has that key for it."""

    node: str
    key: str
    known: bool
    nonce: str = ""


class _Verifier(HTTPMessageVerifier):
    """Leaves the time to `verify_request`, which only reports it to holders of the key."""

    def validate_created_and_expires(self, sig_input: Any, max_age: timedelta | None = None) -> None:
        if type(sig_input.params.get("created")) is not int:
            raise HTTPMessageSignaturesException("not created at any time")


def verify_request(
    request: web.BaseRequest, body: bytes, keys: Mapping[str, str], now: float
) -> SignedRequest:
    """Verify a request's signature. Raise Problem if it has none that holds."""
    keyring = Keyring(keys, request.headers.get(PRESENTED, "")[:_LONGEST])
    found = verify_common_form(request, body, keyring) or verify_with_library(request, body, keyring)
    if abs(found.created - now) > CLOCK_SECONDS:
        raise Problem("clock", "Sign with the time that the header Date says.")
    if request.method != "GET" and not 8 <= len(found.nonce) <= _LONGEST:
        raise Problem("unauthorized", "What changes something is signed with a nonce of its own.")
    return SignedRequest(found.node, keyring.text, keyring.known, found.nonce)


def verify_with_library(request: web.BaseRequest, body: bytes, keyring: Keyring) -> SignatureClaim:
    """Verify a signature with the library. Raise Problem if it does not hold."""
    verifier = _Verifier(signature_algorithm=ED25519, key_resolver=keyring)
    message = SimpleNamespace(
        method=request.method, url=f"http://server{request.raw_path}", headers=_signed_headers(request)
    )
    try:
        (found,) = verifier.verify(message, expect_tag=TAG, expect_label=LABEL)
    except (HTTPMessageSignaturesException, ValueError, TypeError, KeyError):
        # ValueError and the like: what the library does not expect of a hostile text.
        raise Problem("unauthorized") from None
    covered = found.covered_components
    if not covered.keys() >= _COVERED or not _covers_body(covered.get(_DIGEST), body):
        raise Problem("unauthorized")
    params = found.parameters
    return SignatureClaim(str(params["keyid"]), int(params["created"]), found.nonce or "")


def _signed_headers(request: web.BaseRequest) -> CIMultiDict[str]:
    """Return the headers that may be signed; converting all took as long as the signature itself."""
    headers = request.headers
    return CIMultiDict((name, value) for name in _READ for value in headers.getall(name, ()))


def _covers_body(digest: str | None, body: bytes) -> bool:
    """Return whether the signed digest is the body's. A request without a body needs none."""
    return not body if digest is None else digest == content_digest(body)
