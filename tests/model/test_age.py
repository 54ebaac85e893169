"""age's headers and keys, read without a key, as age itself writes them."""

import base64

import pyrage
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.model.age import (
    ED25519,
    RSA,
    X25519,
    Recipient,
    Stanza,
    age_key,
    header,
    recipient,
    stanzas,
)

Public = ed25519.Ed25519PublicKey | rsa.RSAPublicKey


def openssh(key: Public) -> str:
    return key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


AGE = [str(pyrage.x25519.Identity.generate().to_public()) for _ in range(2)]
SSH = [
    openssh(ed25519.Ed25519PrivateKey.generate().public_key()),
    openssh(rsa.generate_private_key(65537, 2048).public_key()),
]


def sealed(*lines: str, armored: bool = False) -> bytes:
    """A file for keys, as age writes it."""
    found = [
        pyrage.x25519.Recipient.from_str(line)
        if line.startswith("age1")
        else pyrage.ssh.Recipient.from_str(line)
        for line in lines
    ]
    return bytes(pyrage.encrypt(b"content", found, armored=armored))


@pytest.mark.parametrize("armored", [False, True])
@pytest.mark.parametrize("lines", [AGE[:1], AGE, SSH, [*SSH, *AGE]])
def test_a_file_says_for_whom_it_is(lines: list[str], armored: bool) -> None:
    expected = [recipient(line).stanza for line in lines]
    for _ in range(8):  # now and then age adds a stanza for nobody
        found = stanzas(sealed(*lines, armored=armored))
        assert sorted(found, key=str) == sorted(expected, key=str)


def test_a_passphrase_is_seen() -> None:
    assert stanzas(pyrage.passphrase.encrypt(b"content", "words")) == (Stanza("scrypt"),)


def test_a_copy_has_its_identity_however_it_is_written() -> None:
    raw = sealed(AGE[0])
    text = base64.b64encode(raw)
    lines = [text[place : place + 40] for place in range(0, len(text), 40)]
    begin, end = b"-----BEGIN AGE ENCRYPTED FILE-----", b"-----END AGE ENCRYPTED FILE-----"
    assert header(b"\r\n".join([begin, *lines, end])) == header(raw)
    assert header(sealed(AGE[0])).identity != header(raw).identity


@pytest.mark.parametrize("armored", [False, True])
def test_no_beginning_of_a_file_is_one(armored: bool) -> None:
    whole = sealed(*AGE, armored=armored)
    least = len(whole.rstrip()) if armored else len(whole) - len(b"content")
    for size in range(least):
        with pytest.raises(ValueError, match=r"."):
            header(whole[:size])


@given(st.binary(max_size=200))
def test_anything_else_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^(does not begin|has |is )"):
        header(data)


@given(st.integers(0, 250), st.integers(0, 255))
def test_a_changed_header_is_refused_or_another(place: int, value: int) -> None:
    whole = sealed(AGE[0])
    changed = bytearray(whole)
    if place >= whole.index(b"\n--- ") or changed[place] == value:
        return
    changed[place] = value
    try:
        found = header(bytes(changed))
    except ValueError:
        return
    assert found.identity != header(whole).identity


def test_keys_are_understood_with_what_follows_them() -> None:
    assert recipient(f" {AGE[0]}  alice and bob ") == Recipient(X25519, AGE[0], "alice and bob")
    found = [recipient(f"{line} of a server") for line in SSH]
    assert [one.kind for one in found] == [ED25519, RSA]
    assert [one.key for one in found] == SSH
    assert {one.comment for one in found} == {"of a server"}


def test_every_mistyped_letter_of_an_age_key_is_found() -> None:
    for place in range(4, len(AGE[0])):
        for letter in "qpzry9x8gf2tvdw0s3jn54khce6mua7lAB1":
            if letter != AGE[0][place]:
                with pytest.raises(ValueError, match="not an age key"):
                    recipient(AGE[0][:place] + letter + AGE[0][place + 1 :])


@given(st.binary(min_size=32, max_size=32))
def test_age_keys_are_written_as_they_are_read(raw: bytes) -> None:
    assert recipient(age_key(raw)).key == age_key(raw)


@pytest.mark.parametrize("size", [1024, 8192])
def test_what_age_does_not_take_is_refused(size: int) -> None:
    line = openssh(rsa.generate_private_key(65537, size).public_key()) if size < 2048 else _large(size)
    with pytest.raises(Exception, match="Modulus"):
        pyrage.ssh.Recipient.from_str(line)
    with pytest.raises(ValueError, match="not an ssh-rsa key that age can use"):
        recipient(line)


def _large(size: int) -> str:
    """A key that takes long to make: its modulus is any number."""
    return openssh(rsa.RSAPublicNumbers(65537, (1 << size) - 1).public_key())


@pytest.mark.parametrize(
    "line",
    [
        "",
        "age1",
        "age1" + "q" * 58,
        "ssh-ed25519",
        "ssh-ed25519 !",
        "ssh-ed25519 AAAA",
        "ssh-dss AAAA",
        "alice",
    ],
)
def test_what_is_no_key_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"^it "):
        recipient(line)


def test_a_private_key_is_refused_and_not_told() -> None:
    secret = str(pyrage.x25519.Identity.generate())
    with pytest.raises(ValueError, match="private key") as refused:
        recipient(secret)
    assert secret[20:] not in str(refused.value)
