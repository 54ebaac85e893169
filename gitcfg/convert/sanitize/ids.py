"""Pseudonyms of commits, keys and encrypted files: of the same form, and they still belong together."""

import binascii
import hmac
import re
from collections.abc import Callable, Iterator, Mapping

from gitcfg.load.keys import public_key, written
from gitcfg.model.age import ED25519, RSA, X25519, Recipient, Stanza, age_key, header, recipient

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_VERSION = b"age-encryption.org/v1\n"
_MARKS = "-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----"
_DAMAGED = {
    "has damaged armor": f"{_MARKS[0]}\n".encode(),
    "has a damaged header": _VERSION,
    "is cut off": None,
}
_BROKEN = {
    "age1": "age1",
    f"{ED25519} ": f"{ED25519} AAAA",
    f"{RSA} ": f"{RSA} AAAA",
    "AGE-SECRET-KEY-": "AGE-SECRET-KEY-1",
}
_KNOWN = (X25519, ED25519, RSA, "scrypt")


class IdPseudonyms:
    """Replaces each id by another one of the same form, always the same with the same key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.known: dict[str, str] = {}
        self._tags: dict[str, str] = {}

    def replace_commit(self, text: str) -> str | None:
        """Return another commit id of the same length, None if it is none. Equal prefixes stay equal."""
        if not _COMMIT.fullmatch(text):
            return None
        self.known[text] = "".join(self._digit(text[:place], digit) for place, digit in enumerate(text))
        return self.known[text]

    def replace_public_key(self, text: str) -> str | None:
        """Return another `ssh-ed25519 AAAA...`, None if it is no such key."""
        found = public_key(text)
        if found is None:
            return None
        self.known[text] = written(hmac.digest(self._key, b"key " + found, "sha256"))
        return self.known[text]

    def replace_recipient(self, text: str, prose: Callable[[str], str]) -> str | None:
        """Return another recipient of the same kind, None if it is no such key."""
        try:
            found = recipient(text)
        except ValueError:
            return None
        other = replace_key(found, self._key)
        self.known[found.key] = other.key
        self._tags[found.tag] = other.tag
        return f"{other.key} {prose(found.comment)}".strip()

    def replace_sealed(self, data: bytes) -> bytes:
        """Return another encrypted file, for the pseudonyms of its recipients, as far as these are known."""
        return replace_encrypted(data, self._key, self._tags)

    def _digit(self, before: str, digit: str) -> str:
        drawn = hmac.digest(self._key, f"commit {before}".encode(), "sha256")
        return f"{int(digit, 16) ^ drawn[0] & 15:x}"


def replace_key(true: Recipient, key: bytes) -> Recipient:
    """Somebody else's key of the same kind."""
    seed = hmac.digest(key, f"recipient {true.key}".encode(), "sha256")
    if true.kind == X25519:
        return recipient(age_key(seed))
    return recipient(written(seed) if true.kind == ED25519 else _make_rsa_key(seed))


def _make_rsa_key(seed: bytes) -> str:
    """What looks like a key of 2048 bits."""
    number = b"\0\xff" + _draw(seed, "modulus", 255)
    parts = (b"ssh-rsa", b"\1\0\1", number)
    wire = b"".join(len(part).to_bytes(4) + part for part in parts)
    return f"ssh-rsa {_base64(wire)}"


def replace_invalid_key(text: str) -> str:
    """What is wrong in the same way as a recipient that is no key; nothing of what does not look like one."""
    begin = next((begin for begin in _BROKEN if text.strip().startswith(begin)), "")
    return _BROKEN.get(begin, "")


def replace_encrypted(data: bytes, key: bytes, tags: Mapping[str, str]) -> bytes:
    """A file for as many, with nothing true in it; `tags` are those of made-up keys by those of true ones."""
    try:
        found = header(data)
    except ValueError as error:
        left = _DAMAGED.get(str(error), b"")
        return _make_file(key, "cut off", (Stanza(X25519),), tags)[:-32] if left is None else left
    made = _make_file(key, found.identity, found.stanzas, tags)
    return _armor(made) if data.lstrip().startswith(b"-----") else made


def _make_file(key: bytes, name: str, stanzas: tuple[Stanza, ...], tags: Mapping[str, str]) -> bytes:
    seed = hmac.digest(key, f"sealed {name}".encode(), "sha256")
    lines = [line for number, one in enumerate(stanzas) for line in _make_stanza(seed, number, one, tags)]
    mac = f"--- {_unpadded_base64(_draw(seed, 'mac', 32))}"
    head = "".join(f"{line}\n" for line in (*lines, mac))
    return _VERSION + head.encode() + _draw(seed, "payload", 48)


def _make_stanza(seed: bytes, number: int, one: Stanza, tags: Mapping[str, str]) -> Iterator[str]:
    share = _unpadded_base64(_draw(seed, f"share {number}", 32))
    other = _unpadded_base64(hmac.digest(seed, f"tag {one.tag}".encode(), "sha256")[:4])
    tag = f" {tags.get(one.tag, other)}" if one.tag else ""
    yield f"-> {one.kind if one.kind in _KNOWN else 'other'}{tag} {share}"
    yield _unpadded_base64(_draw(seed, f"body {number}", 32))


def _armor(data: bytes) -> bytes:
    text = _base64(data)
    lines = [text[place : place + 64] for place in range(0, len(text), 64)]
    return "".join(f"{line}\n" for line in (_MARKS[0], *lines, _MARKS[1])).encode()


def _draw(seed: bytes, what: str, size: int) -> bytes:
    blocks = (hmac.digest(seed, f"{what} {number}".encode(), "sha256") for number in range(size // 32 + 1))
    return b"".join(blocks)[:size]


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def _unpadded_base64(data: bytes) -> str:
    return _base64(data).rstrip("=")
