"""Secrets: valid contents, decryption of a tree's secrets with private keys, encryption for recipients."""

import binascii
import resource
import secrets
import string
from collections.abc import Iterable
from contextlib import suppress

from gitcfg.check.secrets import path_of
from gitcfg.git.tree import EntryKind, Tree
from gitcfg.model import GitcfgError, Secret
from gitcfg.model.age import X25519, Recipient, Stanza, recipient, stanzas
from gitcfg.model.names import shown
from gitcfg.secrets.age import Damaged, NotForUs, Unusable, decrypt, encrypt
from gitcfg.secrets.identities import Identities, Identity

# Contents: text, so that a parameter, a file or a template can contain it.

MOST_BYTES = 1 << 20
"""The maximum size of a secret."""

_BASE64 = "A secret must be text: encrypt the output of `base64 FILE`, and let the program decode it."
_LETTERS = string.ascii_letters + string.digits


def decode_text(raw: bytes) -> str:
    """Decode text. Raise GitcfgError, without showing it, if a secret may not contain it."""
    if len(raw) > MOST_BYTES:
        hint = "Keep large data elsewhere, and the password to it here."
        raise GitcfgError(f"A secret can have at most {MOST_BYTES >> 20} MiB.", hint)
    if b"\0" in raw:
        raise GitcfgError("A secret cannot contain a NUL byte.", _BASE64)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise GitcfgError("A secret must be UTF-8 text.", _BASE64) from None
    if not text:
        hint = "Check where the content comes from."
        raise GitcfgError("The secret is empty.", hint)
    return text


def parse_content(raw: bytes) -> str:
    """Return the content of a given secret, without the line end of a single line.

    Raise GitcfgError if a secret may not contain it.
    """
    if raw.count(b"\n") == 1 and raw.endswith(b"\n"):
        raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    return decode_text(raw)


def make_password(length: int) -> str:
    """Return a new random password of letters and digits: 5.95 bits per character."""
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def forbid_core_dumps() -> None:
    """Forbid core dumps of this process and its children: they would contain secrets from memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# Decryption and encryption.

_MOST_SEALED = 2 * MOST_BYTES  # armor adds a third, and each recipient 200 bytes
_KINDS = "Use a key like age1..., ssh-ed25519 AAAA... or ssh-rsa AAAA.... A comment can follow it."


def open_secret(tree: Tree, secret: Secret, identities: Identities) -> str:
    """Return the content of a secret. Raise GitcfgError, without any content, if it cannot be decrypted."""
    raw = read_sealed(tree, secret)
    try:
        header = stanzas(raw)
    except ValueError as problem:
        raise _damaged_error(secret, str(problem)) from None
    fitting = [one for one in identities.held if may_open(one, header)]
    if not fitting:
        raise _no_key_error(secret, identities)
    armored = raw.lstrip()  # pyrage rejects blank lines above the armor
    try:
        sealed = armored if armored.startswith(b"-----") else raw
        return decode_text(decrypt(sealed, [one.key for one in fitting]))
    except NotForUs:
        raise _no_key_error(secret, identities) from None
    except Damaged:
        raise _damaged_error(secret, "is damaged") from None
    except GitcfgError as problem:
        message = f"Cannot use the secret {shown(secret.name)}. {problem.message}"
        raise GitcfgError(message, *problem.hints) from None


def read_sealed(tree: Tree, secret: Secret) -> bytes:
    """Return the encrypted content of a secret. Raise GitcfgError if there is none, or it cannot be read."""
    path = path_of(secret)
    entry = tree.entry(path)
    if entry is None:
        raise GitcfgError(
            f"The secret {shown(secret.name)} has no content: {path} does not exist.",
            f"Run `gitcfg secret set {secret.name}` to set it. git may still have the old content.",
        )
    if entry.kind is not EntryKind.FILE:
        raise GitcfgError(f"{path} is a {entry.kind.value}, not a file.", "Replace it with the file itself.")
    if entry.size > _MOST_SEALED:
        raise GitcfgError(f"{path} is too large for a secret, which can have at most {MOST_BYTES >> 20} MiB.")
    return tree.read(entry)


def find_readers(secret: Secret) -> tuple[Recipient, ...]:
    """Return the recipients of a secret that are valid keys, in order."""
    found = []
    for ref in secret.recipients:
        with suppress(ValueError):
            found.append(recipient(ref.name))
    return tuple(found)


def may_open(identity: Identity, header: Iterable[Stanza]) -> bool:
    """Return whether a key may decrypt a file with this header.

    For X25519 keys, this is known only by trying.
    """
    stanza = identity.recipient.stanza
    return any(one.kind == X25519 if stanza.kind == X25519 else one == stanza for one in header)


def _no_key_error(secret: Secret, identities: Identities) -> GitcfgError:
    """Return the error if no key fits: which keys would fit, and which were tried."""
    readable = ", ".join(map(describe_recipient, find_readers(secret)))
    tried = "; ".join(f"{one.place} ({describe_recipient(one.recipient)})" for one in identities.held)
    return GitcfgError(
        f"No key here can decrypt the secret {shown(secret.name)}.",
        f"Tried: {tried}." if tried else "There is no private key to try. Use `--identity FILE` to name one.",
        *identities.notes,
        f"Its recipients: {readable}." if readable else "The secret has no recipients.",
        f"One of them can add you: `gitcfg secret rekey {secret.name} --add KEY`." if readable else "",
    )


def describe_recipient(recipient: Recipient) -> str:
    """Return a recipient as people know it: the comment behind its key, else the key, shortened."""
    if recipient.comment:
        return shown(recipient.comment)
    kind, _, body = recipient.key.rpartition(" ")
    return f"{kind} ...{body[-12:]}" if kind else f"{body[:12]}..."


def _damaged_error(secret: Secret, problem: str) -> GitcfgError:
    path = path_of(secret)
    return GitcfgError(
        f"{path} {problem}.",
        f"git may have an undamaged version (`git log -- {path}`).",
        f"Otherwise, run `gitcfg secret set {secret.name}` to set it again.",
    )


def seal(text: str, recipients: Iterable[str | Recipient]) -> bytes:
    """Encrypt a text as age's file. Raise GitcfgError if there is no recipient, or one is not a key."""
    keys = {one.key: one for one in (parse_recipient(of) if isinstance(of, str) else of for of in recipients)}
    if not keys:
        raise GitcfgError(
            "A secret needs a recipient: without one, no one could read it again.", "Use `--recipient KEY`."
        )
    try:
        return encrypt(text.encode("utf-8"), keys.values())
    except Unusable as problem:
        raise GitcfgError(f"Cannot encrypt the secret: {problem}.", _KINDS) from None


def armor(sealed: bytes) -> str:
    """Return age's file as text: git never merges two of them into a third, and line ends do not matter."""
    body = binascii.b2a_base64(sealed, newline=False).decode("ascii")
    lines = (body[at : at + 64] for at in range(0, len(body), 64))
    return "\n".join(["-----BEGIN AGE ENCRYPTED FILE-----", *lines, "-----END AGE ENCRYPTED FILE-----", ""])


def parse_recipient(text: str) -> Recipient:
    """Return the recipient of a public key.

    Raise GitcfgError if it is invalid, without showing a private key.
    """
    try:
        return recipient(text)
    except ValueError as problem:
        if "PRIVATE" in text.upper() or "SECRET" in text.upper():
            hint = "Make a new key, because others can see command lines. Use the public key as recipient."
            raise GitcfgError("A private key cannot be a recipient.", hint) from None
        raise GitcfgError(f"{shown(text)} is not a valid key: {problem}.", _KINDS) from None
