"""The node's own Ed25519 key: made at the first start, kept in the state folder, never sent."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..install.disk import put, take
from ..install.place import Place
from ..install.store import Store, opened
from .problems import Forbidden

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME = "node.key"
_HEAD = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
_MOST = 1 << 14


@dataclass(frozen=True)
class Identity:
    """Who this node is. `public` are the 32 bytes of the key's public half."""

    node: str
    public: bytes
    private: Ed25519PrivateKey

    @property
    def key(self) -> str:
        """As keys/ has it: `ssh-ed25519 AAAA...`."""
        return f"ssh-ed25519 {base64.b64encode(_HEAD + self.public).decode()}"

    @property
    def line(self) -> str:
        """The line for keys/*.txt."""
        return f"{self.node} {self.key}"

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` prints it."""
        digest = base64.b64encode(hashlib.sha256(_HEAD + self.public).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"


def identity(place: Place, node: str) -> Identity:
    """The node's identity, made if there is none yet."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    with opened(place) as store:
        if store.disk.stat(store.at, NAME) is None:
            _make(store)
        private = _read(store, place)
    return Identity(node, private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw), private)


def _make(store: Store) -> None:
    """Whole or not at all: a key that is half there after a loss of power would be another one."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    raw = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    fresh = f"{NAME}.{os.getpid()}"
    store.disk.unlink(store.at, fresh)
    put(store.disk, store.at, fresh, raw, None, 0o600)
    try:
        store.disk.link(store.at, fresh, store.at, NAME)
    except FileExistsError:
        pass  # another process was first, and its key counts
    finally:
        store.disk.unlink(store.at, fresh)
    store.disk.sync(store.at)


def _read(store: Store, place: Place) -> Ed25519PrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    path = f"{place.state}/{NAME}"
    found = store.disk.stat(store.at, NAME)
    if found is None or not stat.S_ISREG(found.st_mode):
        raise Forbidden(f"{path} is not a file.")
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Forbidden(
            f"{path} can be read by others.", "Remove it, and accept the node again with its new key."
        )
    try:
        private = load_ssh_private_key(take(store.disk, store.at, NAME, _MOST), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise Forbidden(
            f"{path} is not an Ed25519 key of OpenSSH's format.",
            "Move it away; the next start makes a new one.",
        )
    return private
