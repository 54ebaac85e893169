"""The file of a node's private key: OpenSSH's format, Ed25519, no passphrase.

cryptography reads such files too, but imports every kind of key and cipher for it: 18 ms of each start.
"""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HEAD = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
"""What stands before the 32 bytes of a public key."""
_PEM = re.compile(
    rb"\s*-----BEGIN OPENSSH PRIVATE KEY-----\s([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----\s*"
)
# No cipher, no derivation of its key, no options of that; one key, and both halves of it. Names in `(?P=...)`
# stand for what was found before: a key whose halves or check numbers disagree is damaged.
_KEY = re.compile(
    rb"openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none\0\0\0\0\0\0\0\x01\0\0\0\x33%b(?P<public>.{32})"
    rb".{4}(?P<check>.{4})(?P=check)%b(?P=public)\0\0\0\x40(?P<seed>.{32})(?P=public).*" % (HEAD, HEAD),
    re.DOTALL,
)


class PrivateKey:
    """The private half, with cryptography's names. That is imported when it first signs."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._key: Ed25519PrivateKey | None = None

    def private_bytes_raw(self) -> bytes:
        """Its 32 bytes."""
        return self._seed

    def sign(self, message: bytes) -> bytes:
        """The signature."""
        if self._key is None:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            self._key = Ed25519PrivateKey.from_private_bytes(self._seed)
        return self._key.sign(message)


def read_key(raw: bytes) -> tuple[bytes, PrivateKey]:
    """The 32 bytes of the public half, and the private one; ValueError for whatever else a file may hold."""
    pem = _PEM.fullmatch(raw)
    try:
        found = _KEY.fullmatch(binascii.a2b_base64(pem[1])) if pem else None
    except binascii.Error:
        found = None
    if found is None:
        raise ValueError("This is no Ed25519 key without a passphrase in OpenSSH's format.")
    return found["public"], PrivateKey(found["seed"])


def new_key() -> bytes:
    """The file of a new key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
