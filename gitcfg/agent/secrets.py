"""Decryption of secrets that a server sealed to this node's key, in age's format (age-encryption.org/v1).

Only what gitcfg writes can be read: the binary form, with a stanza for this node's ssh-ed25519 key. All of
the content is authenticated before any of it is used.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator
from typing import Any

from ..install.outcome import PackageError
from ..install.package import MAX_FILE, Package, decode_json, package_from_json, with_hidden_content
from .keys import HEAD, Identity

CHUNK = 1 << 16
_TAG, _NONCE = 16, 16
_VERSION = b"age-encryption.org/v1\n"
_STANZA = re.compile(rb"-> ([\x21-\x7e]+(?: [\x21-\x7e]+)*)\n((?:[A-Za-z0-9+/]{64}\n)*[A-Za-z0-9+/]{0,63}\n)")
_MAC = re.compile(rb"--- ([A-Za-z0-9+/]{43})\n")
_KIND, _LABEL = b"ssh-ed25519", b"age-encryption.org/v1/ssh-ed25519"


class SealError(ValueError):
    """The content is not sealed to this key, or was changed on the way."""


def decrypt(raw: bytes, who: Identity) -> bytes:
    """Return the content that was sealed to a node's key. Raise SealError if any part of it is not valid."""
    stanzas, end = _parse_header(raw)
    mac = _MAC.match(raw, end)
    if mac is None:
        raise SealError("its header is incomplete")
    file_key = _find_file_key(stanzas, who)
    expected = hmac.new(derive_key(file_key, b"", b"header"), raw[: end + 3], hashlib.sha256).digest()
    if not hmac.compare_digest(expected, _decode(mac[1], 32)):
        raise SealError("its header was changed")
    rest = raw[mac.end() :]
    if len(rest) < _NONCE:
        raise SealError("it is incomplete")
    key = derive_key(file_key, rest[:_NONCE], b"payload")
    return b"".join(_decrypt_chunks(key, memoryview(rest)[_NONCE:]))


def derive_key(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """Return 32 bytes derived by HKDF-SHA-256 (RFC 5869)."""
    extracted = hmac.new(salt or bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()


def _parse_header(raw: bytes) -> tuple[list[tuple[list[bytes], bytes]], int]:
    """Return the stanzas, each as its words and its body in base64, and the offset where they end."""
    if not raw.startswith(_VERSION):
        raise SealError("it is not in age's format")
    found, end = [], len(_VERSION)
    while stanza := _STANZA.match(raw, end):
        found.append((stanza[1].split(b" "), stanza[2].replace(b"\n", b"")))
        end = stanza.end()
    return found, end


def _find_file_key(stanzas: list[tuple[list[bytes], bytes]], who: Identity) -> bytes:
    """Return the file key from the stanza that is for this node."""
    wire = HEAD + who.public
    tag = base64.b64encode(hashlib.sha256(wire).digest()[:4]).rstrip(b"=")
    for words, body in stanzas:
        if words[:2] == [_KIND, tag]:
            if len(words) != 3:
                raise SealError("its header is malformed")
            return _unwrap(who, wire, _decode(words[2], 32), _decode(body, 32))
    raise SealError("it is encrypted for another key than this node's")


def _unwrap(who: Identity, wire: bytes, share: bytes, body: bytes) -> bytes:
    """Return the file key, decrypted with a key that both sides derive by X25519.

    The node's Ed25519 key is used as an X25519 key, tweaked by its public half.
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    own = X25519PrivateKey.from_private_bytes(hashlib.sha512(who.private.private_bytes_raw()).digest()[:32])
    tweak = X25519PrivateKey.from_private_bytes(derive_key(b"", wire, _LABEL))
    try:
        agreed = own.exchange(X25519PublicKey.from_public_bytes(share))
        agreed = tweak.exchange(X25519PublicKey.from_public_bytes(agreed))
    except ValueError:  # a share for which every agreement gives the same result
        raise SealError("its header was changed") from None
    key = derive_key(agreed, share + own.public_key().public_bytes_raw(), _LABEL)
    return _decrypt(key, bytes(12), body)


def _decrypt_chunks(key: bytes, rest: memoryview) -> Iterator[bytes]:
    """Yield the chunks of the content: each is numbered, and the last one is marked."""
    size = CHUNK + _TAG
    for number, at in enumerate(range(0, max(len(rest), 1), size)):
        last = at + size >= len(rest)
        part = _decrypt(key, number.to_bytes(11, "big") + bytes([last]), rest[at : at + size])
        if last and number and not part:
            raise SealError("its last part is empty")
        yield part


def _decrypt(key: bytes, nonce: bytes, sealed: bytes | memoryview) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    try:
        return ChaCha20Poly1305(key).decrypt(nonce, sealed, None)
    except (InvalidTag, ValueError):
        raise SealError("it was changed or is incomplete") from None


def _decode(text: bytes, size: int) -> bytes:
    """Decode base64 without padding; raise SealError for any but the canonical spelling."""
    try:
        raw = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != size or base64.b64encode(raw).rstrip(b"=") != text:
        raise SealError("its header is malformed")
    return raw


def open_package(raw: bytes, who: Identity) -> Package:
    """Return the package with its secrets in memory only.

    Raise PackageError if it is not a package or is sealed to another key.
    """
    data = decode_json(raw)
    files = data.get("files") if isinstance(data, dict) else None
    contents = _open_contents(files, who) if isinstance(files, dict) else {}
    package = package_from_json(data)
    if not contents:
        return package
    known = {path: with_hidden_content(package.files[path], content) for path, content in contents.items()}
    return package._replace(files={**package.files, **known})


def _open_contents(files: dict[str, Any], who: Identity) -> dict[str, bytes]:
    """Return the decrypted contents by path, and remove the sealed ones from the files."""
    found = {}
    for path, file in files.items():
        if isinstance(file, dict) and isinstance(file.get("sealed"), str):
            found[path] = _open_content(path, file["sealed"], who)
            file["sealed"] = None
    return found


def _open_content(path: str, text: str, who: Identity) -> bytes:
    try:
        content = decrypt(base64.b64decode(text, validate=True), who)
    except SealError as error:
        raise PackageError(f"Cannot decrypt the secrets of {path}: {error}.") from None
    except (binascii.Error, ValueError):
        raise PackageError(f"The secrets of {path} are not in base64.") from None
    if len(content) > MAX_FILE:
        raise PackageError(f"{path} is larger than {MAX_FILE >> 20} MiB.")
    return content
