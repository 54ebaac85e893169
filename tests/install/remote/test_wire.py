"""Messages on whatever they may hold, damaged ones too."""

import os
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.install.remote.protocol import CONTENTS, FRAME, PARTS, WireError, encode_message, read_message

KINDS = st.integers(1, 8)
CONTENT = st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode))


def reader(raw: bytes) -> Callable[[int], bytes]:
    """Takes exactly so many bytes; EOFError where there are fewer."""
    place = [0]

    def take(size: int) -> bytes:
        found = raw[place[0] : place[0] + size]
        place[0] += size
        if len(found) < size:
            raise EOFError
        return found

    return take


@given(KINDS, st.lists(CONTENT, max_size=5))
def test_a_message_is_read_as_it_was_written(kind: int, parts: list[bytes]) -> None:
    raw, whole = b"".join(encode_message(kind, parts)), b"".join(parts)
    assert read_message(reader(raw), {kind: len(whole)}) == (kind, whole)
    if whole:
        with pytest.raises(WireError):
            read_message(reader(raw), {kind: len(whole) - 1})


@given(st.integers(1, 4 * FRAME), st.randoms(use_true_random=False))
def test_large_ones_are_cut_into_frames(size: int, chance: Any) -> None:
    whole = chance.randbytes(size)
    frames = list(encode_message(1, [whole]))
    assert max(map(len, frames)) <= FRAME + 5
    assert read_message(reader(b"".join(frames)), {1: size}) == (1, whole)


@given(CONTENT.filter(bool), st.data())
def test_no_damage_goes_through(whole: bytes, data: st.DataObject) -> None:
    """The stream has a sum of its own; what is cut off or changed is an error, or nothing that matters."""
    raw = bytearray(b"".join(encode_message(1, [whole])))
    number = data.draw(st.integers(0, len(raw) - 1))
    raw[number] ^= data.draw(st.integers(1, 255))
    try:
        found = read_message(reader(bytes(raw)), dict.fromkeys(range(128), 1 << 20))
    except (WireError, EOFError):
        return
    assert found[1] == whole


@given(st.binary(max_size=2000))
def test_noise_is_no_message(raw: bytes) -> None:
    with pytest.raises((WireError, EOFError)):
        read_message(reader(raw), {1: 1 << 20})


def test_a_message_is_the_same_however_it_is_cut() -> None:
    content = bytes(range(256)) * 2000 + os.urandom(200_000)
    whole = b"".join(encode_message(CONTENTS, [content]))
    place = [0]

    def take(size: int) -> bytes:
        place[0] += size
        return whole[place[0] - size : place[0]]

    assert read_message(take, {CONTENTS: len(content)}) == (CONTENTS, content)
    assert place[0] == len(whole)
    place[0] = 0
    with pytest.raises(WireError):
        read_message(take, {CONTENTS: len(content) - 1})
    assert b"".join(encode_message(CONTENTS, [content[:7], content[7:]])) != b""


def test_empty_messages_are_messages() -> None:
    frames = b"".join(encode_message(PARTS, []))
    size = struct.unpack(">BI", frames[:5])[1]
    assert zlib.decompress(frames[5 : 5 + size]) == b""
