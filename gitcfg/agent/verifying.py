"""Answers that count: signed by the pinned server, whole, and given to this very request."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .problems import Untrusted
from .signing import ALGORITHM, LABEL, Request, base, content_digest, part

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
    created = _created(found["rest"])
    if answer.headers.get("content-digest") != content_digest(answer.body):
        raise Untrusted("The answer's body is not the one that was signed.")
    told = base([(name, _value(answer, request, name)) for name in names], found["params"])
    if not any(_fits(key, signature[1], told) for key in keys):
        raise Untrusted(
            "The answer is not signed by the server whose key agent.toml pins.",
            "If the server has a new key, set `server_key`.",
        )
    return created


def _created(rest: str) -> int:
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


def _value(answer: Answer, request: Request, name: str) -> str:
    if name == '"@status"':
        return str(answer.status)
    plain = name.partition(";")[0].strip('"')
    value = part(request, plain) if name.endswith(";req") else answer.headers.get(plain)
    if value is None:
        raise Untrusted(f"The answer's signature covers {name}, which is not there.")
    return value


def _fits(key: bytes, signature: str, told: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(signature, validate=True), told)
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True
