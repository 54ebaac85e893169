"""What can be read of age's files and keys without a key: the stanzas of headers, and recipients.

Of https://age-encryption.org/v1 this reads what is not encrypted, with the standard library only.
"""

import binascii
import hashlib
import re

import msgspec

X25519 = "X25519"
ED25519 = "ssh-ed25519"
RSA = "ssh-rsa"
GREASE = "-grease"
"""The suffix of stanzas that programs add at random, to make sure that readers ignore unknown kinds."""

_VERSION = b"age-encryption.org/v1\n"
_ARMOR = re.compile(
    rb"\s*-----BEGIN AGE ENCRYPTED FILE-----\r?\n([A-Za-z0-9+/=\r\n]*)\r?\n"
    rb"-----END AGE ENCRYPTED FILE-----\s*"
)
_STANZA = re.compile(rb"-> ([\x21-\x7e]+(?: [\x21-\x7e]+)*)\n(?:[A-Za-z0-9+/]{64}\n)*[A-Za-z0-9+/]{0,63}\n")
_MAC = re.compile(rb"--- [A-Za-z0-9+/]{43}\n")
# A nonce of 16 bytes, and at least one chunk: an empty one has only its authentication tag of 16 bytes.
_LEAST = 32
_MOST_STANZAS = 1000

_ARMORED = "has damaged armor"

_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_AGE_KEY = re.compile(f"age1([{_BECH32}]{{58}})")
_ED25519_HEAD = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
_RSA_HEAD = b"\0\0\0\x07ssh-rsa"


class Stanza(msgspec.Struct, frozen=True):
    """The entry for one recipient in a header. `tag` is that of an SSH key, or empty: X25519 has none."""

    kind: str
    tag: str = ""


class Recipient(msgspec.Struct, frozen=True):
    """A public key. `key` is its normal form (`age1...`, `ssh-ed25519 AAAA...`)."""

    kind: str
    key: str
    comment: str = ""
    tag: str = ""

    @property
    def stanza(self) -> Stanza:
        """The stanza for this recipient in a file's header."""
        return Stanza(self.kind, self.tag)


class Header(msgspec.Struct, frozen=True):
    """The public part of a file: its recipients, and `identity`, which is equal for copies of one encryption.

    A header cannot be changed without a key, so a copy has the header of its original, armored or not.
    """

    stanzas: tuple[Stanza, ...]
    identity: str


def header(raw: bytes) -> Header:
    """Return the header of a file, binary or armored.

    Raise ValueError if it is damaged; the message continues a sentence that begins with "it".
    """
    data = _bare(raw)
    if not data.startswith(_VERSION):
        raise ValueError("does not begin like an age file")
    found: list[Stanza] = []
    at = len(_VERSION)
    while stanza := _STANZA.match(data, at):
        found.append(_stanza(stanza[1].decode("ascii").split(" ")))
        at = stanza.end()
        if len(found) > _MOST_STANZAS:
            raise ValueError(f"is for more than {_MOST_STANZAS} recipients")
    end = _MAC.match(data, at)
    if end is None or not found:
        raise ValueError("has a damaged header")
    if len(data) - end.end() < _LEAST:
        raise ValueError("is cut off")
    named = tuple(stanza for stanza in found if not stanza.kind.endswith(GREASE))
    return Header(named, hashlib.sha256(data[:at]).hexdigest())


def stanzas(raw: bytes) -> tuple[Stanza, ...]:
    """Return the stanzas of a file, without the random ones. Raise ValueError if it is not an age file."""
    return header(raw).stanzas


def _bare(raw: bytes) -> bytes:
    """Return a file's bytes without armor. Raise ValueError if the armor is damaged."""
    if not raw.lstrip()[:10].startswith(b"-----BEGIN"):
        return raw
    armored = _ARMOR.fullmatch(raw)
    if armored is None:
        raise ValueError(_ARMORED)
    return _decoded(b"".join(armored[1].split()), _ARMORED)


def _stanza(said: list[str]) -> Stanza:
    tag = said[1] if said[0] in (ED25519, RSA) and len(said) > 1 else ""
    return Stanza(said[0], tag)


def recipient(text: str) -> Recipient:
    """Return the key in a line: an age or SSH key, then a comment. Raise ValueError if age cannot use it."""
    first, _, rest = text.strip().partition(" ")
    if first.startswith("age1"):
        return _age_key(first, rest.strip())
    if first in (ED25519, RSA):
        body, _, comment = rest.strip().partition(" ")
        return _ssh_key(first, body, comment.strip())
    if first.upper().startswith("AGE-SECRET-KEY-") or "PRIVATE KEY" in text:
        raise ValueError("it is a private key: every reader of the repository can read the secret now")
    raise ValueError("it begins neither like an age key (age1...) nor like an SSH key (ssh-ed25519, ssh-rsa)")


def is_recipient(text: str) -> bool:
    """Return whether a text is a public key that age can use."""
    try:
        recipient(text)
    except ValueError:
        return False
    return True


def age_key(raw: bytes) -> str:
    """Return an age key as text: Bech32 of its 32 bytes."""
    number = int.from_bytes(raw) << 4
    values = [number >> 5 * place & 31 for place in reversed(range(52))]
    check = _checksum([*values, *[0] * 6]) ^ 1
    letters = [*values, *(check >> 5 * place & 31 for place in reversed(range(6)))]
    return "age1" + "".join(_BECH32[letter] for letter in letters)


def _age_key(key: str, comment: str) -> Recipient:
    found = _AGE_KEY.fullmatch(key)
    values = [_BECH32.index(letter) for letter in found[1]] if found else []
    # 52 letters of 5 bits are 4 bits more than a key's 32 bytes: those 4 must be 0.
    if not values or values[51] & 15 or _checksum(values) != 1:
        raise ValueError("it is not an age key: a character is wrong or missing")
    return Recipient(X25519, key, comment)


def _checksum(values: list[int]) -> int:
    """Return Bech32's checksum (BIP 173) of the prefix `age` and values; 1 if these include a correct one."""
    check = 1
    for value in [
        *(ord(letter) >> 5 for letter in "age"),
        0,
        *(ord(letter) & 31 for letter in "age"),
        *values,
    ]:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(_GENERATORS):
            check ^= generator if top >> bit & 1 else 0
    return check


def _ssh_key(kind: str, body: str, comment: str) -> Recipient:
    wire = _decoded(body.encode(), f"it is not an {kind} key")
    if not (_is_ed25519(wire) if kind == ED25519 else _is_rsa(wire)):
        raise ValueError(f"it is not an {kind} key that age can use")
    tag = _encoded(hashlib.sha256(wire).digest()[:4]).rstrip("=")
    return Recipient(kind, f"{kind} {_encoded(wire)}", comment, tag)


def _encoded(raw: bytes) -> str:
    return binascii.b2a_base64(raw, newline=False).decode("ascii")


def _decoded(text: bytes, problem: str) -> bytes:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError):
        raise ValueError(problem) from None


def _is_ed25519(wire: bytes) -> bool:
    return wire.startswith(_ED25519_HEAD) and len(wire) == len(_ED25519_HEAD) + 32


def _is_rsa(wire: bytes) -> bool:
    """Return whether a key is an RSA key: an exponent, a modulus of 2048 to 4096 bits, and nothing more."""
    at = len(_RSA_HEAD)
    sizes: list[int] = []
    while wire.startswith(_RSA_HEAD) and at + 4 <= len(wire) and len(sizes) < 2:
        size = int.from_bytes(wire[at : at + 4])
        sizes.append(int.from_bytes(wire[at + 4 : at + 4 + size]).bit_length())
        at += 4 + size
    return at == len(wire) and len(sizes) == 2 and 2048 <= sizes[1] <= 4096
