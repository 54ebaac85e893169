"""Private keys with their public halves, made once for all tests: age's and OpenSSH's."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import msgspec
import pyrage

from gitcfg.secrets.identities import Identities, parse_identities


class Pair(msgspec.Struct, frozen=True):
    """A private key as its file has it, and the public one as a line."""

    private: bytes
    public: str

    @property
    def own(self) -> Identities:
        """What opens with it."""
        return parse_identities([("key", self.private)])


def age(comment: str = "") -> Pair:
    """A new key of age's, as age-keygen writes it."""
    key = pyrage.x25519.Identity.generate()
    public = str(key.to_public())
    text = f"# created: 2026-01-01T12:00:00Z\n# public key: {public}\n{key}\n"
    return Pair(text.encode(), f"{public} {comment}".strip())


@cache
def ssh(kind: str = "ed25519", number: int = 0, *options: str) -> Pair:
    """A key of OpenSSH's, made once for each kind, number, and options of ssh-keygen."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "key"
        words = ["-q", "-t", kind, "-C", f"{kind}{number}", "-f", str(place), *(options or ("-N", ""))]
        subprocess.run(["ssh-keygen", *words], check=True)
        return Pair(place.read_bytes(), place.with_suffix(".pub").read_text().strip())
