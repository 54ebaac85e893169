"""Who signed a commit with an SSH key: ssh-keygen decides, by a list of those who may."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

import msgspec
import pygit2

from gitcfg.git.repository import Repository
from gitcfg.model import GitcfgError

NAMESPACE = "git"
"""What git signs for: a signature of anything else is none of a commit."""
_SSH = b"-----BEGIN SSH SIGNATURE-----"
_SECONDS = 10
_KEY = re.compile(r"\b(SHA256:[A-Za-z0-9+/=]+)")


class Flaw(Enum):
    """Why a signature does not count."""

    NONE = "is not signed"
    FOREIGN = "is not signed with an SSH key"
    BROKEN = "was changed after it was signed, or its signature was"
    UNKNOWN = "is signed with a key that may not sign"
    UNTIMELY = "is signed with a key that may not sign at this time"
    NAMESPACE = "is signed with a key that may not sign commits"
    REVOKED = "is signed with a key that was revoked"


class Signed(msgspec.Struct, frozen=True):
    """What a signature is worth: the signer's names, or the flaw; `key` is the key's fingerprint, if any."""

    signers: tuple[str, ...] = ()
    key: str = ""
    flaw: Flaw | None = None


class Signers:
    """Those who may sign, at a moment."""

    def __init__(self, folder: Path, git: pygit2.Repository, revoked: Path | None, now: datetime) -> None:
        self._folder = folder
        self._git = git
        self._revoked = revoked
        self._time = f"-Overify-time={now.astimezone(UTC):%Y%m%d%H%M%S}Z"

    def of(self, commit: str) -> Signed:
        """Who signed a commit."""
        found = self._git[commit]
        assert isinstance(found, pygit2.Commit)
        signature, payload = found.gpg_signature
        if not signature:
            return Signed(flaw=Flaw.NONE)
        if not signature.strip().startswith(_SSH):
            return Signed(flaw=Flaw.FOREIGN)
        place = self._folder / "signature"
        place.write_bytes(signature)
        return self._judged(place, payload)

    def _judged(self, signature: Path, payload: bytes) -> Signed:
        code, told = self._asked(["check-novalidate", "-n", NAMESPACE, "-s", str(signature)], payload)
        key = found.group(1) if (found := _KEY.search(told)) else ""
        if code:
            return Signed(key=key, flaw=Flaw.BROKEN)
        allowed = str(self._folder / "allowed")
        code, told = self._asked(["find-principals", "-s", str(signature), "-f", allowed, self._time], b"")
        names = tuple(told.splitlines())
        if code or not names:
            return Signed(key=key, flaw=self._unknown(signature))
        revoked = ["-r", str(self._revoked)] if self._revoked is not None else []
        if any(self._signed(signature, payload, name, revoked) for name in names):
            return Signed(names, key)
        anyway = any(self._signed(signature, payload, name, []) for name in names)
        return Signed(key=key, flaw=Flaw.REVOKED if anyway else Flaw.NAMESPACE)

    def _signed(self, signature: Path, payload: bytes, name: str, revoked: list[str]) -> bool:
        words = ["verify", "-n", NAMESPACE, "-s", str(signature), "-I", name, self._time, *revoked]
        return not self._asked([*words, "-f", str(self._folder / "allowed")], payload)[0]

    def _unknown(self, signature: Path) -> Flaw:
        """Is it a key that may sign at some other time?"""
        allowed = str(self._folder / "timeless")
        code, told = self._asked(["find-principals", "-s", str(signature), "-f", allowed], b"")
        return Flaw.UNKNOWN if code or not told.strip() else Flaw.UNTIMELY

    def _asked(self, words: list[str], given: bytes) -> tuple[int, str]:
        """What ssh-keygen says: its exit code and its words. GitcfgError: it cannot be asked."""
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
        try:
            done = subprocess.run(
                ["ssh-keygen", "-Y", *words],
                input=given,
                capture_output=True,
                check=False,
                timeout=_SECONDS,
                env=environment,
            )
        except FileNotFoundError:
            raise GitcfgError("There is no ssh-keygen here, so no signature can be judged.") from None
        except subprocess.TimeoutExpired:
            raise GitcfgError(f"ssh-keygen did not judge a signature within {_SECONDS} s.") from None
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


@contextmanager
def signers(repository: Repository, allowed: bytes, revoked: Path | None, now: datetime) -> Iterator[Signers]:
    """Those who may sign, by the lines of an allowed_signers file; `revoked` lists keys that may no more."""
    if repository.git is None:
        raise GitcfgError(
            f"{repository.root} is no git repository, so nobody signs in it.", "Run `git init`."
        )
    with tempfile.TemporaryDirectory(prefix="gitcfg-signers-") as name:
        folder = Path(name)
        (folder / "allowed").write_bytes(allowed)
        (folder / "timeless").write_bytes(_TIMES.sub(b"", allowed))
        yield Signers(folder, repository.git, revoked, now)


_TIMES = re.compile(rb',?valid-(?:after|before)="?[0-9]*Z?"?', re.IGNORECASE)
