"""What age seals to a node's key is opened, byte by byte the same, and nothing that was changed is."""

import base64

import pyrage
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.agent.keys import Identity
from gitcfg.agent.secrets import CHUNK, SealError, decrypt

SEEDS = st.binary(min_size=32, max_size=32)


def node(seed: bytes) -> Identity:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    return Identity("n1", private.public_key().public_bytes_raw(), private)


def sealed(content: bytes, *nodes: Identity) -> bytes:
    raw: bytes = pyrage.encrypt(content, [pyrage.ssh.Recipient.from_str(one.key) for one in nodes])
    return raw


NODE, OTHER = node(b"n" * 32), node(b"o" * 32)


@given(SEEDS, st.binary(max_size=300))
def test_what_age_seals_is_opened(seed: bytes, content: bytes) -> None:
    assert decrypt(sealed(content, node(seed)), node(seed)) == content


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 7])
def test_contents_of_any_length(size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    assert decrypt(sealed(content[:size], NODE), NODE) == content[:size]


def test_among_other_recipients() -> None:
    raw = sealed(b"content", OTHER, NODE)
    assert decrypt(raw, NODE) == decrypt(raw, OTHER) == b"content"
    age = pyrage.x25519.Identity.generate().to_public()
    raw = pyrage.encrypt(b"content", [age, pyrage.ssh.Recipient.from_str(NODE.key)])
    assert decrypt(raw, NODE) == b"content"


@pytest.mark.parametrize("raw", [sealed(b"x", OTHER), pyrage.passphrase.encrypt(b"x", "x")])
def test_what_is_sealed_to_others_is_refused(raw: bytes) -> None:
    with pytest.raises(SealError, match="another key"):
        decrypt(raw, NODE)


RAW = sealed(b"a content of some length", NODE)


def test_every_byte_that_was_changed_is_noticed() -> None:
    for place in range(len(RAW)):
        for change in (1, 0x20, 0x80):
            with pytest.raises(SealError):
                decrypt(RAW[:place] + bytes([RAW[place] ^ change]) + RAW[place + 1 :], NODE)


def test_every_byte_that_is_missing_or_too_many_is_noticed() -> None:
    for place in range(len(RAW)):
        short, less, more = RAW[:place], RAW[:place] + RAW[place + 1 :], RAW[:place] + b"A" + RAW[place:]
        for raw in (short, less, more, RAW + RAW[place:]):
            with pytest.raises(SealError):
                decrypt(raw, NODE)


LONG = sealed(bytes(3 * CHUNK), NODE)
HEAD = len(LONG) - 3 * (CHUNK + 16)
PIECES = [LONG[HEAD + at : HEAD + at + CHUNK + 16] for at in range(0, 3 * (CHUNK + 16), CHUNK + 16)]


@pytest.mark.parametrize("order", [(), (0,), (0, 1), (1, 0, 2), (0, 1, 2, 2), (2,), (0, 2), (0, 1, 1, 2)])
def test_pieces_cannot_be_left_out_or_moved(order: tuple[int, ...]) -> None:
    assert decrypt(LONG, NODE) == bytes(3 * CHUNK)
    with pytest.raises(SealError):
        decrypt(LONG[:HEAD] + b"".join(PIECES[number] for number in order), NODE)


def test_an_empty_end_is_refused() -> None:
    """What this writes itself: age's own writers never do."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    from gitcfg.agent import secrets as module

    stanzas, end = module._parse_header(LONG)
    nonce = LONG[HEAD - 16 : HEAD]
    key = module.derive_key(module._find_file_key(stanzas, NODE), nonce, b"payload")
    cipher = ChaCha20Poly1305(key)
    full = cipher.encrypt(bytes(12), bytes(CHUNK), None)
    empty = cipher.encrypt((1).to_bytes(11, "big") + b"\1", b"", None)
    with pytest.raises(SealError, match="last part is empty"):
        decrypt(LONG[:HEAD] + full + empty, NODE)
    assert end < HEAD


@given(st.binary(max_size=400))
def test_anything_else_is_refused(raw: bytes) -> None:
    for text in (raw, b"age-encryption.org/v1\n" + raw, base64.b64encode(RAW)):
        with pytest.raises(SealError):
            decrypt(text, NODE)


def test_a_share_that_agrees_with_everybody_is_refused() -> None:
    lines = RAW.split(b"\n")
    words = lines[1].split(b" ")
    words[3] = base64.b64encode(bytes(32)).rstrip(b"=")
    with pytest.raises(SealError):
        decrypt(b"\n".join([lines[0], b" ".join(words), *lines[2:]]), NODE)
