"""age itself: the only module that imports pyrage.

pyrage's errors never contain the text to encrypt; other arguments are not passed on in errors either.
"""

from collections.abc import Iterable
from typing import Any

import pyrage

from gitcfg.model.age import X25519, Recipient


class Unusable(Exception):
    """A private key cannot be used by age; the message says why."""


class NotForUs(Exception):
    """A file is encrypted for none of the keys."""


class Damaged(Exception):
    """A file is damaged."""


class PrivateKey:
    """A private key. No representation of it shows the key."""

    __slots__ = ("_key",)

    def __init__(self, key: Any) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "<a private key>"


def parse_age_key(text: str) -> tuple[PrivateKey, str]:
    """Return the key of `AGE-SECRET-KEY-1...` and its public half. Raise Unusable if it is not a key."""
    try:
        key = pyrage.x25519.Identity.from_str(text)
    except pyrage.IdentityError:
        raise Unusable("it is not an age key: a character is wrong or missing") from None
    return PrivateKey(key), str(key.to_public())


def parse_ssh_key(text: bytes) -> PrivateKey:
    """Return the key of an OpenSSH file. Raise Unusable if it is not a key, or not supported by age."""
    try:
        return PrivateKey(pyrage.ssh.Identity.from_buffer(text))
    except pyrage.IdentityError:
        raise Unusable("age does not support this kind of key (only Ed25519 and RSA)") from None


def encrypt(plain: bytes, recipients: Iterable[Recipient]) -> bytes:
    """Return a file that each of the recipients can decrypt. Raise Unusable if one of them is not a key."""
    try:
        keys = [
            (pyrage.x25519 if one.kind == X25519 else pyrage.ssh).Recipient.from_str(one.key)
            for one in recipients
        ]
    except pyrage.RecipientError:
        raise Unusable("age does not support the key of a recipient") from None
    return bytes(pyrage.encrypt(plain, keys))


def decrypt(raw: bytes, keys: Iterable[PrivateKey]) -> bytes:
    """Return the content of a file. Raise NotForUs or Damaged if it cannot be decrypted."""
    try:
        return bytes(pyrage.decrypt(raw, [key._key for key in keys]))
    except pyrage.DecryptError as error:
        raise (NotForUs if str(error) == "No matching keys found" else Damaged)() from None
