"""Files of private keys: what ssh-keygen and cryptography write is read, and nothing that is damaged."""

import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_ssh_private_key,
)
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.agent.keys import make_key, read_key

MADE = Ed25519PrivateKey.from_private_bytes(bytes(range(32))).private_bytes(
    Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()
)


def public_of(raw: bytes) -> bytes:
    """The public half as cryptography reads it."""
    key = load_ssh_private_key(raw, None)
    assert isinstance(key, Ed25519PrivateKey)
    return key.public_key().public_bytes_raw()


def generated(folder: Path, *words: str) -> bytes:
    """What ssh-keygen makes."""
    file = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-f", file, *words], check=True)
    return file.read_bytes()


@pytest.mark.parametrize("comment", ["", "n1", "root@a.very.long.name.example.com with words"])
def test_a_key_of_ssh_keygen_is_read(tmp_path: Path, comment: str) -> None:
    raw = generated(tmp_path, "-t", "ed25519", "-N", "", "-C", comment)
    public, private = read_key(raw)
    assert public == public_of(raw)
    Ed25519PublicKey.from_public_bytes(public).verify(private.sign(b"said"), b"said")


def test_a_new_key_is_read() -> None:
    raw = make_key()
    public, private = read_key(raw)
    assert public == public_of(raw)
    Ed25519PublicKey.from_public_bytes(public).verify(private.sign(b"said"), b"said")


@pytest.mark.parametrize(
    "words", [["-t", "ed25519", "-N", "secret"], ["-t", "ecdsa", "-N", ""], ["-t", "rsa", "-N", ""]]
)
def test_another_kind_of_key_is_none(tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(ValueError, match="not an Ed25519 key"):
        read_key(generated(tmp_path, *words))


@given(st.integers(0, len(MADE) - 1), st.integers(0, 255))
def test_a_damaged_file_is_never_another_identity(at: int, byte: int) -> None:
    """Whatever is read has the public half that it had."""
    try:
        public, _ = read_key(MADE[:at] + bytes([byte]) + MADE[at + 1 :])
    except ValueError:
        return
    assert public == public_of(MADE)


@given(st.binary(max_size=300), st.integers(0, len(MADE)))
def test_any_bytes(more: bytes, at: int) -> None:
    for raw in (more, MADE[:at] + more, MADE[:at]):
        try:
            public, _ = read_key(raw)
        except ValueError:
            continue
        assert public == public_of(MADE)
