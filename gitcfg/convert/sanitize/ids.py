"""Commits, keys and encrypted files for such ones: others of the same form, that nobody has."""

import hmac
import re
from collections.abc import Callable

from gitcfg.convert.sanitize import sealed
from gitcfg.load.keys import public_key, written
from gitcfg.model.age import recipient

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class IdPseudonyms:
    """Other ids, always the same with the same key, and equal ones for equal ones."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.known: dict[str, str] = {}
        self._tags: dict[str, str] = {}

    def replace_commit(self, text: str) -> str | None:
        """The id of another commit, as long; of ids that begin alike, so do the others. None: it is none."""
        if not _COMMIT.fullmatch(text):
            return None
        self.known[text] = "".join(self._digit(text[:place], digit) for place, digit in enumerate(text))
        return self.known[text]

    def replace_public_key(self, text: str) -> str | None:
        """Another `ssh-ed25519 AAAA...`; None: it is no such key."""
        found = public_key(text)
        if found is None:
            return None
        self.known[text] = written(hmac.digest(self._key, b"key " + found, "sha256"))
        return self.known[text]

    def replace_recipient(self, text: str, prose: Callable[[str], str]) -> str | None:
        """Another line of a secret's recipients, of the same kind; None: it is no such key."""
        try:
            found = recipient(text)
        except ValueError:
            return None
        other = sealed.replace_key(found, self._key)
        self.known[found.key] = other.key
        self._tags[found.tag] = other.tag
        return f"{other.key} {prose(found.comment)}".strip()

    def replace_sealed(self, data: bytes) -> bytes:
        """Another encrypted file, for the others of those whom it was for, as far as these are known."""
        return sealed.replace_encrypted(data, self._key, self._tags)

    def _digit(self, before: str, digit: str) -> str:
        drawn = hmac.digest(self._key, f"commit {before}".encode(), "sha256")
        return f"{int(digit, 16) ^ drawn[0] & 15:x}"
