"""Private keys that decrypt secrets, read from age's identity files and OpenSSH's."""

import binascii
from collections.abc import Iterable, Iterator

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.model.age import Recipient, recipient
from gitcfg.secrets.age import PrivateKey, Unusable, parse_age_key, parse_ssh_key

_AGE = "AGE-SECRET-KEY-1"
_MAGIC = b"openssh-key-v1\0"
_BEGIN = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_END = b"-----END OPENSSH PRIVATE KEY-----"
_SEALED = (b"age-encryption.org/", b"-----BEGIN AGE ENCRYPTED FILE-----")
_MOST_BYTES = 1 << 16
_MAKE = "Make a key for secrets with `age-keygen -o FILE` or `ssh-keygen -t ed25519 -N '' -f FILE`."
_PASSPHRASE = f"gitcfg does not ask for passphrases. Use a separate key without one. {_MAKE}"


class Identity(msgspec.Struct, frozen=True):
    """A private key, the file that it was read from, and its public half."""

    place: str
    recipient: Recipient
    key: PrivateKey


class Identities(msgspec.Struct, frozen=True):
    """Private keys that decrypt secrets. `notes` say which files were skipped, and why."""

    held: tuple[Identity, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Their public halves, in normal form."""
        return tuple(one.recipient.key for one in self.held)

    def with_note(self, note: str) -> "Identities":
        """Return the identities with one more note."""
        return Identities(self.held, (*self.notes, note))

    def join(self, other: "Identities") -> "Identities":
        """Return these identities, then the others."""
        return Identities((*self.held, *other.held), (*self.notes, *other.notes))


def parse_identities(files: Iterable[tuple[str, bytes]]) -> Identities:
    """Return the keys in files, each with its name and its content.

    Raise GitcfgError if a file has no key that can be used.
    """
    return Identities(tuple(one for place, text in files for one in _parse_file(place, text)))


def _parse_file(place: str, text: bytes) -> list[Identity]:
    if len(text) > _MOST_BYTES:
        raise GitcfgError(f"{place} is too large for a key file.", _MAKE)
    bare = text.strip()
    if bare.startswith(_SEALED):
        raise GitcfgError(f"{place} is protected by a passphrase.", _PASSPHRASE)
    try:
        is_ssh = b"PRIVATE KEY-----" in bare
        found = [_parse_ssh_file(place, bare)] if is_ssh else list(_parse_age_file(place, bare))
    except Unusable as problem:
        raise GitcfgError(f"{place} has an unusable key: {problem}.", _MAKE) from None
    if not found:
        public = bare.startswith((b"ssh-", b"age1"))
        hint = (
            "This is the public key. Use the private key, which is in the file beside it."
            if public
            else _MAKE
        )
        raise GitcfgError(f"{place} has no private key.", hint)
    return found


def _parse_age_file(place: str, bare: bytes) -> Iterator[Identity]:
    """Yield the keys of age's own files: one per line, between comments."""
    for line in bare.decode("utf-8", "replace").splitlines():
        word = line.strip()
        if word.startswith(_AGE):
            key, public = parse_age_key(word)
            yield Identity(place, recipient(public), key)
        elif word.upper().startswith("AGE-"):
            raise Unusable("it is a plug-in key, or not an X25519 key")


def _parse_ssh_file(place: str, bare: bytes) -> Identity:
    if not bare.startswith(_BEGIN):
        convert = f"Run `ssh-keygen -p -N '' -f {place}` to convert it to the current OpenSSH format."
        hint = _PASSPHRASE if b"ENCRYPTED" in bare else convert
        raise GitcfgError(f"{place} is not a private key in OpenSSH format.", hint)
    cipher, wire = _parse_envelope(bare)
    if cipher != b"none":
        raise GitcfgError(f"{place} is protected by a passphrase.", _PASSPHRASE)
    key = parse_ssh_key(bare + b"\n")
    try:
        kind = wire[4 : 4 + int.from_bytes(wire[:4])].decode("ascii")
        public = recipient(f"{kind} {binascii.b2a_base64(wire, newline=False).decode('ascii')}")
    except (UnicodeDecodeError, ValueError):
        raise Unusable("age supports only Ed25519 keys, and RSA keys of 2048 to 4096 bits") from None
    return Identity(place, public, key)


def _parse_envelope(bare: bytes) -> tuple[bytes, bytes]:
    """Return the cipher of a key in OpenSSH's format, and its public half, which is never encrypted."""
    body = bare.removeprefix(_BEGIN).partition(_END)[0]
    try:
        raw = binascii.a2b_base64(b"".join(body.split()), strict_mode=True)
    except (binascii.Error, ValueError):
        raise Unusable("it is damaged") from None
    if not raw.startswith(_MAGIC):
        raise Unusable("it is damaged")
    parts, at = [], len(_MAGIC)
    for _ in range(3):  # the cipher, the function that derives its key, and that function's options
        size = int.from_bytes(raw[at : at + 4])
        parts.append(raw[at + 4 : at + 4 + size])
        at += 4 + size
    at += 4  # how many keys: always one
    return parts[0], raw[at + 4 : at + 4 + int.from_bytes(raw[at : at + 4])]
