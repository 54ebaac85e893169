"""RFC 9421 as a kept library does it: it verifies what the agent signs, and signs what the agent verifies."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import ED25519

COVERED = (
    '"@status"',
    '"content-digest"',
    '"gitcfg-node"',
    '"gitcfg-commit"',
    '"gitcfg-digest"',
    '"gitcfg-sequence"',
    '"gitcfg-rollback"',
    '"@path";req',
    '"@query";req',
    '"@method";req',
    '"signature";req',
)


@dataclass
class Asked:
    """A request as the library reads it."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass
class Answered:
    """An answer as the library reads it."""

    status_code: int
    request: Asked
    headers: dict[str, str] = field(default_factory=dict)


class Keys(HTTPSignatureKeyResolver):
    """Public keys by their ids, and one private key."""

    def __init__(self, public: Mapping[str, bytes], private: Ed25519PrivateKey | None = None) -> None:
        self.public = public
        self.private = private

    def resolve_public_key(self, key_id: str) -> Any:
        known = self.public.get(key_id)
        return None if known is None else Ed25519PublicKey.from_public_bytes(known)

    def resolve_private_key(self, key_id: str) -> Any:
        return self.private


class Timeless(HTTPMessageVerifier):
    """Leaves the judging of times to the server, whose clock is its own."""

    def validate_created_and_expires(self, sig_input: Any, max_age: Any = None) -> None:
        return


def proven(asked: Asked, public: Mapping[str, bytes]) -> Mapping[str, Any]:
    """The signed parameters of a request; raises what the library raises."""
    verifier = Timeless(signature_algorithm=ED25519, key_resolver=Keys(public))
    found = verifier.verify(asked, expect_tag="gitcfg", max_age=None, body=asked.body or None)
    required = {'"@method"', '"@path"', '"@query"', *(('"content-digest"',) if asked.body else ())}
    for one in found:
        assert required <= set(one.covered_components)
        return dict(one.parameters)
    raise AssertionError("nothing is signed")


def sign(
    answered: Answered, private: Ed25519PrivateKey, created: int, covered: tuple[str, ...] = COVERED
) -> None:
    """Sign an answer in place."""
    signer = HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=Keys({}, private))
    signer.sign(
        answered,
        key_id="server",
        created=datetime.datetime.fromtimestamp(created, datetime.UTC),
        label="gitcfg",
        tag="gitcfg",
        covered_component_ids=covered,
        use_existing_digest=True,
    )
