"""A commit as it was signed: the text, and the signature that was put into it afterwards."""

import base64
import binascii
from enum import Enum
from io import BytesIO

import msgspec

MOST_BYTES = 1 << 20
"""A larger commit is not looked at, as no larger file is: one of a gigabyte would fill the memory."""
PURPOSE = b"git"
"""What git signs for: a signature for anything else is none of a commit."""
_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG\0\0\0\1"
_FIELDS = (b"gpgsig", b"gpgsig-sha256")


class Flaw(Enum):
    """Why a signature does not count, in words that go on after `COMMIT is` or `COMMITS are`."""

    NONE = "not signed"
    FOREIGN = "not signed with an SSH key"
    LARGE = "larger than 1 MiB"
    BROKEN = "not what was signed"
    PURPOSE = "signed as something else than a commit"
    UNKNOWN = "signed with a key that may not sign"
    UNTIMELY = "signed with a key that may not sign at this time"
    CERTIFICATE = "signed with a certificate that does not count"
    NAMESPACE = "signed with a key that may not sign commits"
    REVOKED = "signed with a key that was revoked"


class Envelope(msgspec.Struct, frozen=True):
    """What was signed, the signature as ssh-keygen reads it, and the public key that it says it is of."""

    payload: bytes
    signature: bytes
    key: bytes


def envelope(raw: bytes) -> Envelope | Flaw:
    """Take a commit apart as git does: neither its signature nor one for SHA-256 is part of the text.

    What git reads leniently is BROKEN: two signatures, one before the commit's own lines, one with anything
    beside it. git's library cannot be asked: to it a text ends at a NUL, so that more could be said after
    one, and a signature in the message is one of the commit.
    """
    found, payload = _parted(raw)
    if not found:
        return Flaw.NONE
    place, signature = found[0]
    if not signature.startswith(_BEGIN):
        return Flaw.FOREIGN
    if len(found) > 1 or b"\ncommitter " not in payload[:place]:
        return Flaw.BROKEN
    return _read(signature.rstrip(), payload)


def _parted(raw: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """Each signature with its place in the rest, and the rest."""
    end = raw.find(b"\n\n") + 1 or len(raw)
    rest: list[bytes] = []
    found: list[tuple[int, list[bytes]]] = []
    field, size = b"", 0
    for line in BytesIO(raw[:end]):
        if not line.startswith(b" "):
            field, _, value = line.partition(b" ")
            if field == b"gpgsig":
                found.append((size, [value]))
        elif field == b"gpgsig":
            found[-1][1].append(line[1:])
        if field not in _FIELDS:
            rest.append(line)
            size += len(line)
    return [(place, b"".join(lines)) for place, lines in found], b"".join((*rest, raw[end:]))


def _read(signature: bytes, payload: bytes) -> Envelope | Flaw:
    """ssh-keygen is given the signature as it was understood here: they cannot take it for two things."""
    text = b"".join(signature.removeprefix(_BEGIN).removesuffix(_END).split())
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return Flaw.BROKEN
    if not signature.endswith(_END) or not data.startswith(_MAGIC) or base64.b64encode(data) != text:
        return Flaw.BROKEN
    key, after = _string(data, len(_MAGIC))
    purpose, _ = _string(data, after)
    if not purpose:
        return Flaw.BROKEN
    if purpose != PURPOSE:
        return Flaw.PURPOSE
    return Envelope(payload, b"%s\n%s\n%s\n" % (_BEGIN, text, _END), key)


def _string(data: bytes, at: int) -> tuple[bytes, int]:
    """A string as SSH writes it, after its length; and where the next begins."""
    end = at + 4 + int.from_bytes(data[at : at + 4], "big")
    return data[at + 4 : end], end
