"""The node's own Ed25519 key: made at the first start, kept in the state folder, never sent."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from ..install.contents import put, take
from ..install.place import Place
from ..install.store import Store, opened, path_of
from .problems import Forbidden
from .sshkey import HEAD, new_key, read_key

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
    """Who this node is. `public` are the 32 bytes of the key's public half."""

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


def identity(place: Place, node: str) -> Identity:
    """The node's identity, made if there is none yet."""
    with opened(place) as store:
        if store.disk.stat(store.at, NAME) is None:
            _make(store)
        return Identity(node, *_read(store))


def _make(store: Store) -> None:
    """Whole or not at all: a key that is half there after a loss of power would be another one."""
    fresh = f"{NAME}.{os.getpid()}"
    store.disk.unlink(store.at, fresh)
    put(store.disk, store.at, fresh, new_key(), None, 0o600)
    try:
        store.disk.link(store.at, fresh, store.at, NAME)
    except FileExistsError:
        pass  # another process was first, and its key counts
    finally:
        store.disk.unlink(store.at, fresh)
    store.disk.sync(store.at)


def _read(store: Store) -> tuple[bytes, Signs]:
    path = path_of(store, NAME)
    found = store.disk.stat(store.at, NAME)
    if found is None or not stat.S_ISREG(found.st_mode):
        raise Forbidden(f"{path} is not a file.")
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Forbidden(
            f"{path} can be read by others.", "Remove it, and accept the node again with its new key."
        )
    try:
        return read_key(take(store.disk, store.at, NAME, _MOST))
    except ValueError:
        raise Forbidden(
            f"{path} is not an Ed25519 key of OpenSSH's format.",
            "Move it away; the next start makes a new one.",
        ) from None
