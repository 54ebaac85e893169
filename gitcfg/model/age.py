"""age's files and keys as they look to one who has no key: the header's stanzas, and recipients.

Of https://age-encryption.org/v1 this reads what is not encrypted, with nothing but the standard library.
"""

import binascii
import hashlib
import re

import msgspec

X25519 = "X25519"
ED25519 = "ssh-ed25519"
RSA = "ssh-rsa"
GREASE = "-grease"
"""How kinds of stanzas end that programs add at random, so that readers pass over what they do not know."""

_VERSION = b"age-encryption.org/v1\n"
_ARMOR = re.compile(
    rb"\s*-----BEGIN AGE ENCRYPTED FILE-----\r?\n([A-Za-z0-9+/=\r\n]*)\r?\n"
    rb"-----END AGE ENCRYPTED FILE-----\s*"
)
_STANZA = re.compile(rb"-> ([\x21-\x7e]+(?: [\x21-\x7e]+)*)\n(?:[A-Za-z0-9+/]{64}\n)*[A-Za-z0-9+/]{0,63}\n")
_MAC = re.compile(rb"--- [A-Za-z0-9+/]{43}\n")
# A nonce of 16 bytes, and at least one piece: of nothing but the 16 bytes that prove it whole.
_LEAST = 32
_MOST_STANZAS = 1000

_ARMORED = "has damaged armor"

_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_AGE_KEY = re.compile(f"age1([{_BECH32}]{{58}})")
_ED25519_HEAD = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
_RSA_HEAD = b"\0\0\0\x07ssh-rsa"


class Stanza(msgspec.Struct, frozen=True):
    """One way into a file: for whom. `tag` is that of an SSH key, or nothing: X25519 tells nobody's name."""

    kind: str
    tag: str = ""


class Recipient(msgspec.Struct, frozen=True):
    """Someone's public key: `key` is its normal form (`age1...`, `ssh-ed25519 AAAA...`)."""

    kind: str
    key: str
    comment: str = ""
    tag: str = ""

    @property
    def stanza(self) -> Stanza:
        """What a file for it has in its header."""
        return Stanza(self.kind, self.tag)


class Header(msgspec.Struct, frozen=True):
    """What a file says to everybody: for whom it is, and `identity`, the same for files of one encryption.

    Whoever has no key cannot change a header, so a copy has its original's, armored or not.
    """

    stanzas: tuple[Stanza, ...]
    identity: str


def header(raw: bytes) -> Header:
    """A file's header, be it binary or armored. ValueError: what is wrong, in words that go on after "it"."""
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
    """For whom a file is, less what is there at random. ValueError: it is no age file."""
    return header(raw).stanzas


def _bare(raw: bytes) -> bytes:
    """Return a file's bytes without armor."""
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
    """Whose key a line has: an age or SSH key, then a comment. ValueError: there is none that age can use."""
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
    """Return whether it is a public key."""
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
    # 52 letters of 5 bits are 4 bits more than a key's 32 bytes: those are 0.
    if not values or values[51] & 15 or _checksum(values) != 1:
        raise ValueError("it is not an age key: a character is wrong or missing")
    return Recipient(X25519, key, comment)


def _checksum(values: list[int]) -> int:
    """Bech32's (BIP 173) over the human part `age` and these values; 1 if they are as they were written."""
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
    """Whether a key is RSA's: an exponent and a modulus of 2048 to 4096 bits, and nothing after them."""
    at = len(_RSA_HEAD)
    sizes: list[int] = []
    while wire.startswith(_RSA_HEAD) and at + 4 <= len(wire) and len(sizes) < 2:
        size = int.from_bytes(wire[at : at + 4])
        sizes.append(int.from_bytes(wire[at + 4 : at + 4 + size]).bit_length())
        at += 4 + size
    return at == len(wire) and len(sizes) == 2 and 2048 <= sizes[1] <= 4096
