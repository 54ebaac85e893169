"""age itself: the one module that imports pyrage.

pyrage's errors never contain what was to be encrypted; what it was given is not handed on either.
"""

from collections.abc import Iterable
from typing import Any

import pyrage

from gitcfg.model.age import X25519, Recipient


class Unusable(Exception):
    """A private key cannot be used by age; the message says why."""


class NotForUs(Exception):
    """A file is for none of the keys."""


class Damaged(Exception):
    """A file is not what was sealed once."""


class PrivateKey:
    """A private key. Nothing that shows it says more than that it is one."""

    __slots__ = ("_key",)

    def __init__(self, key: Any) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "<a private key>"


def parse_age_key(text: str) -> tuple[PrivateKey, str]:
    """Return the key of `AGE-SECRET-KEY-1...` and its public half. Raise Unusable if it is none."""
    try:
        key = pyrage.x25519.Identity.from_str(text)
    except pyrage.IdentityError:
        raise Unusable("it is not an age key: a character is wrong or missing") from None
    return PrivateKey(key), str(key.to_public())


def parse_ssh_key(text: bytes) -> PrivateKey:
    """Return the key of an OpenSSH file. Raise Unusable if it is none, or not one for age."""
    try:
        return PrivateKey(pyrage.ssh.Identity.from_buffer(text))
    except pyrage.IdentityError:
        raise Unusable("age does not support this kind of key (only Ed25519 and RSA)") from None


def encrypt(plain: bytes, recipients: Iterable[Recipient]) -> bytes:
    """Return a file that each of the recipients can open. Raise Unusable if one of them is no key."""
    try:
        keys = [
            (pyrage.x25519 if one.kind == X25519 else pyrage.ssh).Recipient.from_str(one.key)
            for one in recipients
        ]
    except pyrage.RecipientError:
        raise Unusable("age does not support the key of a recipient") from None
    return bytes(pyrage.encrypt(plain, keys))


def decrypt(raw: bytes, keys: Iterable[PrivateKey]) -> bytes:
    """Return the content of a file. Raise NotForUs or Damaged if it cannot be opened."""
    try:
        return bytes(pyrage.decrypt(raw, [key._key for key in keys]))
    except pyrage.DecryptError as error:
        raise (NotForUs if str(error) == "No matching keys found" else Damaged)() from None
