"""The node's own Ed25519 key: made at the first start, kept in the state folder, never sent.

Its file is in OpenSSH's format, without a passphrase. cryptography reads such files too, but imports every
kind of key and cipher for it: 18 ms of each start.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple

from ..install.disk import read_file, write_file
from ..install.store import Place, Store, open_store
from .errors import Forbidden

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


def make_key() -> bytes:
    """The file of a new key."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


if TYPE_CHECKING:
    from typing import Protocol

    class Signs(Protocol):
        """The private half of a key."""

        def sign(self, data: bytes, /) -> bytes:
            """The signature."""

        def private_bytes_raw(self) -> bytes:
            """The key itself: what secrets are opened with."""


NAME = "node.key"
_MOST = 1 << 14


class Identity(NamedTuple):
    """A node's identity. `public` are the 32 bytes of the key's public half."""

    node: str
    public: bytes
    private: Signs

    @property
    def key(self) -> str:
        """As keys/ has it: `ssh-ed25519 AAAA...`."""
        return f"ssh-ed25519 {base64.b64encode(HEAD + self.public).decode()}"

    @property
    def line(self) -> str:
        """The line for keys/*.txt."""
        return f"{self.node} {self.key}"

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` prints it."""
        digest = base64.b64encode(hashlib.sha256(HEAD + self.public).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"


def load_identity(place: Place, node: str) -> Identity:
    """The node's identity, made if there is none yet."""
    with open_store(place) as store:
        if store.disk.stat(store.at, NAME) is None:
            _make(store)
        return Identity(node, *_read(store))


def _make(store: Store) -> None:
    """Whole or not at all: a key that is half there after a loss of power would be another one."""
    fresh = f"{NAME}.{os.getpid()}"
    store.disk.unlink(store.at, fresh)
    write_file(store.disk, store.at, fresh, make_key(), None, 0o600)
    try:
        store.disk.link(store.at, fresh, store.at, NAME)
    except FileExistsError:
        pass  # another process was first, and its key counts
    finally:
        store.disk.unlink(store.at, fresh)
    store.disk.sync(store.at)


def _read(store: Store) -> tuple[bytes, Signs]:
    path = os.path.join(store.path, NAME)
    found = store.disk.stat(store.at, NAME)
    if found is None or not stat.S_ISREG(found.st_mode):
        raise Forbidden(f"{path} is not a file.")
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Forbidden(
            f"{path} can be read by others.", "Remove it, and accept the node again with its new key."
        )
    try:
        return read_key(read_file(store.disk, store.at, NAME, _MOST))
    except ValueError:
        raise Forbidden(
            f"{path} is not an Ed25519 key of OpenSSH's format.",
            "Move it away; the next start makes a new one.",
        ) from None
