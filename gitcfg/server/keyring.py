"""The key that a node's signature must hold by: git's, or the one it presents if git has none."""

from collections.abc import Mapping
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from http_message_signatures import HTTPSignatureKeyResolver

from gitcfg.load.keys import public_key, written
from gitcfg.model.names import HOST

# Whoever is unknown costs as much as whoever is known and signs with another key.
_NOBODY = Ed25519PrivateKey.generate().public_key()


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
        self.text = self.text or _normalize(self._presented)
        return _load_key(self.text) if HOST.fullmatch(key_id) else _NOBODY


@lru_cache(maxsize=1 << 16)
def _load_key(text: str) -> Ed25519PublicKey:
    """Load a key. Cached: that takes as long as half a signature."""
    raw = public_key(text)
    return Ed25519PublicKey.from_public_bytes(raw) if raw is not None else _NOBODY


def _normalize(text: str) -> str:
    """Normalize a key to git's form; "" if it is none."""
    raw = public_key(text)
    return written(raw) if raw is not None else ""
