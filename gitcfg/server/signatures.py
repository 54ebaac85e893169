"""Signatures (RFC 9421): verified in requests of nodes, and made with the server's key in its answers."""

import base64
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPMessageVerifier,
    HTTPSignatureKeyResolver,
)
from http_message_signatures.algorithms import ED25519
from multidict import CIMultiDict

from gitcfg.fs import write_new
from gitcfg.load.keys import public_key, written
from gitcfg.model import GitcfgError
from gitcfg.model.names import HOST
from gitcfg.server.http import Problem

# A request of an unknown node takes as long as one of a known node with a wrong key.
_NOBODY = Ed25519PrivateKey.generate().public_key()
LABEL = TAG = "gitcfg"
KEYID = "server"
NOTHING = "-"
_SIZE = 32
_FIELDS = ("gitcfg-node", "gitcfg-commit", "gitcfg-digest", "gitcfg-sequence", "gitcfg-rollback")
_COVERED_IN_ANSWERS = ('"@status"', '"content-digest"', *(f'"{name}"' for name in _FIELDS))
_ASKED = ('"@path";req', '"@query";req', '"@method";req', '"signature";req')
_INPUT = re.compile(
    r'gitcfg=(\("@method" "@path" "@query"( "content-digest")?\)'
    r';created=(0|[1-9][0-9]{0,14});keyid="([0-9A-Za-z.-]+)";alg="ed25519"'
    r'(?:;nonce="([0-9A-Za-z_-]+)")?;tag="gitcfg")'
)
# 64 bytes in the canonical spelling only: the last character carries two bits.
_SIGNATURE = re.compile(r"gitcfg=:([0-9A-Za-z+/]{85}[AQgw]==):")
_TARGET = re.compile(r"(/[0-9A-Za-z._~/-]*)(?:\?([0-9A-Za-z=&._~-]+))?")
_METHODS = ("GET", "POST")
PRESENTED = "Gitcfg-Key"
"""The header with which a node presents its key, which becomes pending if git has none."""
CLOCK_SECONDS = 300
_COVERED = {'"@method"', '"@path"', '"@query"'}
_DIGEST = '"content-digest"'
_READ = ("Signature-Input", "Signature", "Content-Digest")
_LONGEST = 200


class Keyring(HTTPSignatureKeyResolver):
    """The keys for one request. `text` is the key that was resolved last, `known`: git has it."""

    def __init__(self, keys: Mapping[str, str], presented: str) -> None:
        self._keys = keys
        self._presented = presented
        self.known = False
        self.text = ""

    def resolve_public_key(self, key_id: str) -> Ed25519PublicKey:
        """Return the key of the node that a signature names."""
        self.text = self._keys.get(key_id, "")
        self.known = bool(self.text)
        if not self.known:
            raw = public_key(self._presented)
            self.text = written(raw) if raw is not None else ""  # in the form that git has
        return _load_key(self.text) if HOST.fullmatch(key_id) else _NOBODY


@lru_cache(maxsize=1 << 16)
def _load_key(text: str) -> Ed25519PublicKey:
    """Load a key. Cached, because it takes half as long as a signature."""
    raw = public_key(text)
    return Ed25519PublicKey.from_public_bytes(raw) if raw is not None else _NOBODY


class AnswerSubject(msgspec.Struct, frozen=True):
    """The subject of an answer, for its signed headers."""

    node: str = NOTHING
    commit: str = NOTHING
    digest: str = NOTHING
    sequence: int | None = None
    rollback: bool = False

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return the headers' names and values."""
        sequence = NOTHING if self.sequence is None else str(self.sequence)
        values = (self.node, self.commit, self.digest, sequence, "true" if self.rollback else "false")
        return tuple(zip(_FIELDS, values, strict=True))


class ServerKey:
    """The key by which nodes authenticate the server. `recipient` is the same key for encrypted secrets."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public = f"ed25519:{base64.b64encode(raw).decode()}"
        self.recipient = written(raw)

    @property
    def identity(self) -> bytes:
        """The key in OpenSSH's form, with which the server decrypts secrets."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())

    def sign(
        self, request: web.BaseRequest, response: web.Response, about: AnswerSubject, now: float
    ) -> None:
        """Sign an answer. The library is not used, because it takes ten times as long (0.3 ms)."""
        body = response.body
        path, _, query = request.raw_path.partition("?")
        values = [str(response.status), content_digest(body if isinstance(body, bytes) else b"")]
        values += [value for _, value in about.headers()]
        values += [path, f"?{query}", request.method, ", ".join(request.headers.getall("Signature", ()))]
        names = (*_COVERED_IN_ANSWERS, *_ASKED)
        params = f'({" ".join(names)});created={int(now)};keyid="{KEYID}";alg="ed25519";tag="{TAG}"'
        base = [f"{name}: {value}" for name, value in zip(names, values, strict=True)]
        base.append(f'"@signature-params": {params}')
        signature = self._key.sign("\n".join(base).encode("utf-8", "surrogateescape"))
        response.headers["Content-Digest"] = values[1]
        response.headers.update(about.headers())
        response.headers["Signature-Input"] = f"{LABEL}={params}"
        response.headers["Signature"] = f"{LABEL}=:{base64.b64encode(signature).decode()}:"


def load_server_key(file: Path) -> ServerKey:
    """Load the key of a file; if there is none, create it so that only its owner can read it."""
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        with suppress(FileExistsError):  # if two servers start at once, both use the first one's key
            write_new(file, Ed25519PrivateKey.generate().private_bytes_raw(), 0o600)
        return load_server_key(file)
    if file.stat().st_mode & 0o077:
        raise GitcfgError(f"Other users can read {file}.", f"Run `chmod 600 {file}`, if no one has read it.")
    if len(raw) != _SIZE:
        raise GitcfgError(
            f"{file} is not a valid key of this server.",
            "Restore it: nodes recognize the server by this key.",
        )
    return ServerKey(Ed25519PrivateKey.from_private_bytes(raw))


class SignatureClaim(msgspec.Struct, frozen=True):
    """The content of a valid signature: which node made it, when, and its nonce."""

    node: str
    created: int
    nonce: str = ""


def verify_common_form(request: web.BaseRequest, body: bytes, keys: Keyring) -> SignatureClaim | None:
    """Verify a signature of the common form; return None if it has another form or is not valid."""
    found = _INPUT.fullmatch(_single_header(request, "Signature-Input"))
    signature = _SIGNATURE.fullmatch(_single_header(request, "Signature"))
    target = _TARGET.fullmatch(request.raw_path)
    if found is None or signature is None or target is None or request.method not in _METHODS:
        return None
    params, whole, created, node, nonce = found.groups()
    lines = f'"@method": {request.method}\n"@path": {target[1]}\n"@query": ?{target[2] or ""}\n'
    if whole:
        digest = content_digest(body)
        if _single_header(request, "Content-Digest") != digest:
            return None
        lines += f'"content-digest": {digest}\n'
    elif body:
        return None
    signed_text = f'{lines}"@signature-params": {params}'.encode()
    try:
        keys.resolve_public_key(node).verify(base64.b64decode(signature[1]), signed_text)
    except InvalidSignature:
        return None
    return SignatureClaim(node, int(created), nonce or "")


def content_digest(body: bytes) -> str:
    """Return the Content-Digest of a body."""
    return f"sha-256=:{base64.b64encode(sha256(body).digest()).decode()}:"


def _single_header(request: web.BaseRequest, name: str) -> str:
    """Return a header that occurs once; "" if it occurs more often or not at all."""
    values = request.headers.getall(name, ())
    return values[0] if len(values) == 1 else ""


class SignedRequest(msgspec.Struct, frozen=True):
    """The signer of a request: a node with its key; `known`: git has that key for it."""

    node: str
    key: str
    known: bool
    nonce: str = ""


class _Verifier(HTTPMessageVerifier):
    """Verifier without a check of the time, which `verify_request` does.

    It reports a wrong time only to holders of the key.
    """

    def validate_created_and_expires(self, sig_input: Any, max_age: timedelta | None = None) -> None:
        if type(sig_input.params.get("created")) is not int:
            raise HTTPMessageSignaturesException("`created` is not a time")


def verify_request(
    request: web.BaseRequest, body: bytes, keys: Mapping[str, str], now: float
) -> SignedRequest:
    """Verify a request's signature. Raise Problem if it has no valid one."""
    keyring = Keyring(keys, request.headers.get(PRESENTED, "")[:_LONGEST])
    found = verify_common_form(request, body, keyring) or verify_with_library(request, body, keyring)
    if abs(found.created - now) > CLOCK_SECONDS:
        raise Problem("clock", "Sign with the time of the header `Date`.")
    if request.method != "GET" and not 8 <= len(found.nonce) <= _LONGEST:
        raise Problem("unauthorized", "Requests that change something need a unique nonce.")
    return SignedRequest(found.node, keyring.text, keyring.known, found.nonce)


def verify_with_library(request: web.BaseRequest, body: bytes, keyring: Keyring) -> SignatureClaim:
    """Verify a signature with the library. Raise Problem if it is not valid."""
    verifier = _Verifier(signature_algorithm=ED25519, key_resolver=keyring)
    # Only the headers that may be signed, because converting all took as long as the signature itself.
    headers = CIMultiDict((name, value) for name in _READ for value in request.headers.getall(name, ()))
    message = SimpleNamespace(method=request.method, url=f"http://server{request.raw_path}", headers=headers)
    try:
        (found,) = verifier.verify(message, expect_tag=TAG, expect_label=LABEL)
    except (HTTPMessageSignaturesException, ValueError, TypeError, KeyError):
        # ValueError and others, if the library does not expect the text of a hostile client.
        raise Problem("unauthorized") from None
    covered = found.covered_components
    digest = covered.get(_DIGEST)  # a request without a body needs none
    if not covered.keys() >= _COVERED or (digest != content_digest(body) if digest is not None else body):
        raise Problem("unauthorized")
    params = found.parameters
    return SignatureClaim(str(params["keyid"]), int(params["created"]), found.nonce or "")
