"""Commits made by hand, whole or not, and who may have signed them."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Signers
from tests.gate.signing import WHEN, Keys, ran, raw_signed

NOW = datetime.fromtimestamp(int(WHEN.split()[0]), UTC)
"""Time is judged at the push here, by the commit's date in git: in this table they are the same."""


class Commits:
    """A repository with one file; commits are made by hand."""

    def __init__(self, folder: Path, keys: Keys) -> None:
        self.folder = folder
        self.keys = keys
        ran("git", "init", "--quiet", "--bare", folder)
        tree = ran("git", "mktree", where=folder).decode().strip()
        first = ran("git", "commit-tree", "-m", "first", tree, where=folder).decode().strip()
        who = f"ann <ann@x.org> {WHEN}"
        self.text = f"tree {tree}\nparent {first}\nauthor {who}\ncommitter {who}\n\nsecond\n".encode()
        self.other = self.text.replace(b"second", b"third")
        self.repository = Repository.served(folder)

    def add(self, raw: bytes) -> str:
        """A commit of any content, whole or not."""
        words = ("git", "hash-object", "-t", "commit", "-w", "--literally", "--stdin")
        return ran(*words, where=self.folder, given=raw).decode().strip()

    def signed(self, name: str, purpose: str = "git") -> bytes:
        """The one text, signed."""
        return raw_signed(self.text, self.keys.signature(name, self.text, purpose))

    def signers(self, allowed: str | bytes, revoked: Path | None = None, now: datetime = NOW) -> Signers:
        """Those who may sign."""
        text = allowed if isinstance(allowed, bytes) else self.keys.filled(allowed).encode()
        return Signers(self.repository, text, revoked, now)

    def git_agrees(self, commit: str, allowed: str | bytes, revoked: Path | None = None) -> bool:
        """What `git verify-commit` says."""
        file = self.folder / "allowed_signers"
        file.write_bytes(allowed if isinstance(allowed, bytes) else self.keys.filled(allowed).encode())
        words = ["git", "-c", f"gpg.ssh.allowedSignersFile={file}"]
        words += ["-c", f"gpg.ssh.revocationFile={revoked}"] if revoked is not None else []
        environment = {"PATH": os.environ["PATH"], "TZ": "UTC", "HOME": "/nonexistent"}
        done = subprocess.run(
            [*words, "verify-commit", commit], cwd=self.folder, env=environment, capture_output=True
        )
        return not done.returncode
