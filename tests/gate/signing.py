"""Keys, certificates and lists of revoked keys; and commits signed with them, or made to look so."""

import subprocess
from pathlib import Path

import msgspec

KINDS = {"ann": "ed25519", "bob": "ed25519", "eve": "ed25519", "forge": "ed25519", "ca": "ed25519"} | {
    "curve": "ecdsa",
    "prime": "rsa",
}
PASSED, TO_COME = "20010101Z", "29990101Z"
WHEN = "1790000000 +0000"
"""When the commits of these tests say that they were made."""


class Keys(msgspec.Struct, frozen=True):
    """A folder of private keys by name, each with its public half in NAME.pub."""

    folder: Path

    def __getitem__(self, name: str) -> str:
        """A public key as lists name it: its kind, and what it is."""
        return " ".join((self.folder / f"{name}.pub").read_text().split()[:2])

    def filled(self, text: str) -> str:
        """A text in which {NAME} stands for a public key."""
        for name in KINDS:
            text = text.replace(f"{{{name}}}", self[name])
        return text

    def signature(self, name: str, payload: bytes, purpose: str = "git") -> bytes:
        """What ssh-keygen makes of a key and a text."""
        return ran("ssh-keygen", "-q", "-Y", "sign", "-n", purpose, "-f", self.folder / name, given=payload)

    def certified(self, name: str, *words: str) -> None:
        """A certificate by the authority `ca` for ann's key, as NAME-cert.pub with a private half."""
        for suffix in ("", ".pub"):
            (self.folder / f"{name}{suffix}").write_bytes((self.folder / f"ann{suffix}").read_bytes())
        (self.folder / name).chmod(0o600)
        public = self.folder / f"{name}.pub"
        ran("ssh-keygen", "-q", "-s", self.folder / "ca", "-I", "test", *words, public)


def made(folder: Path) -> Keys:
    """Keys in a folder, made once."""
    keys = Keys(folder)
    if folder.is_dir():
        return keys
    folder.mkdir()
    for name, kind in KINDS.items():
        ran("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", name, "-f", folder / name)
    return keys


def ran(*words: str | Path, given: bytes = b"", where: Path | None = None) -> bytes:
    """What a program says, in an environment of its own."""
    who = {f"GIT_{role}_{key}": "ann" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": f"@{WHEN}", "GIT_COMMITTER_DATE": f"@{WHEN}"}
    home = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nonexistent", "TZ": "UTC"}
    done = subprocess.run(
        list(map(str, words)),
        input=given,
        cwd=where,
        env=home | who | dates,
        check=False,
        capture_output=True,
    )
    assert not done.returncode, f"{words}: {done.stderr.decode()}"
    return done.stdout


def signing(key: str | Path) -> tuple[str, ...]:
    """What makes git sign commits with a key."""
    return ("-c", "gpg.format=ssh", "-c", f"user.signingkey={key}", "-c", "commit.gpgsign=true")


def raw_signed(raw: bytes, signature: bytes, field: bytes = b"gpgsig") -> bytes:
    """A commit with a signature where git puts it: at the end of its lines."""
    head, _, message = raw.partition(b"\n\n")
    return head + b"\n" + header(signature, field) + b"\n" + message


def header(signature: bytes, field: bytes = b"gpgsig") -> bytes:
    """A signature as lines of a commit."""
    return field + b" " + signature.strip(b"\n").replace(b"\n", b"\n ") + b"\n"
