"""The channel between an agent and its server: its opening, and messages that no one between can change.

Both sides sign the opening, which names the node, both incarnations, the server and two ephemeral X25519
keys. The shared secret gives one key for each direction. A message has a number, a time and a MAC; a proxy
that changes, repeats, reorders or drops one closes the channel.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from typing import TYPE_CHECKING, NamedTuple

from .errors import Untrusted

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

_HEAD = struct.Struct(">Qd")
_MAC = 16  # bytes
_PERSON = b"gitcfg channel 1"  # BLAKE2b takes at most 16 bytes
_LATE = 300.0  # seconds that the time of a message may differ from ours
MOST = 1 << 20
"""The largest message, in bytes."""


class Opening(NamedTuple):
    """What both sides sign. The ephemeral keys are 32 bytes each."""

    node: str
    node_incarnation: str
    node_ephemeral: bytes
    server: str
    server_incarnation: str
    server_ephemeral: bytes

    def to_bytes(self) -> bytes:
        """Return what is signed: each part with its length, so that none can run into the next one."""
        parts = (part if isinstance(part, bytes) else part.encode() for part in self)
        return _PERSON + b"".join(len(part).to_bytes(4, "big") + part for part in parts)


class Keys(NamedTuple):
    """The keys of a channel: one for each direction."""

    to_server: bytes
    to_node: bytes


def derive_keys(opening: Opening, private: X25519PrivateKey, other: bytes) -> Keys:
    """Return the keys, from this side's ephemeral private key and the other side's public one.

    Raise Untrusted if the other key is not one.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    try:
        secret = private.exchange(X25519PublicKey.from_public_bytes(other))
    except ValueError:  # not 32 bytes, or a point of small order, which gives the same secret to all
        raise Untrusted("The other side's ephemeral key is not valid.") from None
    salt = hashlib.sha256(opening.to_bytes()).digest()
    both = HKDF(SHA256(), 64, salt, _PERSON).derive(secret)
    return Keys(both[:32], both[32:])


class Sender:
    """One direction of a channel, at the side that sends."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._number = 0

    def seal(self, payload: bytes, now: float) -> bytes:
        """Return a message with its number, time and MAC."""
        self._number += 1
        message = _HEAD.pack(self._number, now) + payload
        return message + _mac(self._key, message)


class Receiver:
    """One direction of a channel, at the side that receives."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._number = 0

    def open(self, sealed: bytes, now: float) -> bytes | None:
        """Return what was sent; None if its time is too far from `now`: such messages are ignored.

        Raise Untrusted if it was not sent on this channel, or is not the next one: close the channel then.
        """
        message, mac = sealed[:-_MAC], sealed[-_MAC:]
        if not _HEAD.size <= len(message) <= _HEAD.size + MOST:
            raise Untrusted("A message of the channel has a wrong length.")
        if not hmac.compare_digest(mac, _mac(self._key, message)):
            raise Untrusted("A message of the channel was changed on its way.")
        number, time = _HEAD.unpack_from(message)
        if number != self._number + 1:
            raise Untrusted("A message of the channel is missing, or came twice.")
        self._number = number
        return message[_HEAD.size :] if abs(time - now) <= _LATE else None


def _mac(key: bytes, message: bytes) -> bytes:
    return hashlib.blake2b(message, digest_size=_MAC, key=key, person=_PERSON).digest()
