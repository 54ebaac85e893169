"""Secrets sealed: text into age's files, for people, servers and nodes."""

import binascii
from collections.abc import Iterable

from gitcfg.model import GitcfgError
from gitcfg.model.age import Recipient
from gitcfg.model.age import recipient as parse
from gitcfg.model.names import shown
from gitcfg.secrets.age import Unusable, encrypt

_KINDS = "Keys are age1..., ssh-ed25519 AAAA... or ssh-rsa AAAA...; what follows one is a comment."


def seal(text: str, recipients: Iterable[str | Recipient]) -> bytes:
    """A text as age's file. GitcfgError: there is no recipient, or one is no key."""
    keys = {one.key: one for one in (parse_recipient(of) if isinstance(of, str) else of for of in recipients)}
    if not keys:
        raise GitcfgError("A secret without recipients could never be read again.", "Say --recipient KEY.")
    try:
        return encrypt(text.encode("utf-8"), keys.values())
    except Unusable as problem:
        raise GitcfgError(f"Nothing was sealed: {problem}.", _KINDS) from None


def armor(sealed: bytes) -> str:
    """age's file in letters: git never merges two of them into a third, and line ends do it no harm."""
    body = binascii.b2a_base64(sealed, newline=False).decode("ascii")
    lines = (body[at : at + 64] for at in range(0, len(body), 64))
    return "\n".join(["-----BEGIN AGE ENCRYPTED FILE-----", *lines, "-----END AGE ENCRYPTED FILE-----", ""])


def parse_recipient(text: str) -> Recipient:
    """Whose key a text is. GitcfgError: it is none; it shows nothing of a private key."""
    try:
        return parse(text)
    except ValueError as problem:
        if "PRIVATE" in text.upper() or "SECRET" in text.upper():
            hint = "Make a new one: command lines are seen by others. Recipients are public keys."
            raise GitcfgError("A private key is no recipient.", hint) from None
        raise GitcfgError(f"{shown(text)} is no key: {problem}.", _KINDS) from None
