"""Messages between the two ends of a deploy: compressed, cut into frames, and limited on both sides.

A frame is a byte (the message's kind; its highest bit says that the message goes on), four bytes of length,
and a part of the message's zlib stream. Who reads says what it takes, and how long it may be: the other end
is believed neither its lengths nor what it says will come.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping

MARK = "gitcfg-far/1"
"""What the far end's first lines begin with; whatever a shell says before is passed over."""

HAVE = "have"
"""What the program says on such a line before its first message, if it was here already."""

HELLO, ORDER, LACKS, PARTS, CONTENTS, TOLD, DONE, PROBLEM = range(1, 9)
FRAME = 1 << 15
"""Bytes of a frame at most."""

_GOES_ON = 0x80
_HEAD = struct.Struct(">BI")
_CHUNK = 1 << 20

Take = Callable[[int], bytes]


class WireError(Exception):
    """The other end says what it must not say."""


def message(kind: int, parts: Iterable[bytes]) -> Iterator[bytes]:
    """The frames of a message; never more of it compressed than there is room for in memory."""
    squeezed, ready = zlib.compressobj(6), b""
    for part in parts:
        for start in range(0, len(part), _CHUNK):
            ready += squeezed.compress(memoryview(part)[start : start + _CHUNK])
            while len(ready) > FRAME:
                yield _HEAD.pack(kind | _GOES_ON, FRAME) + ready[:FRAME]
                ready = ready[FRAME:]
    ready += squeezed.flush()
    while len(ready) > FRAME:
        yield _HEAD.pack(kind | _GOES_ON, FRAME) + ready[:FRAME]
        ready = ready[FRAME:]
    yield _HEAD.pack(kind, len(ready)) + ready


def read_message(take: Take, limits: Mapping[int, int]) -> tuple[int, bytes]:
    """The next message, of a kind that `limits` has and at most so many bytes; WireError for any other.

    `take` returns exactly as many bytes as it is asked for, and raises what it likes where they do not come.
    """
    kind, size = _head(take)
    limit = limits.get(kind & ~_GOES_ON)
    if limit is None:
        raise WireError(f"A message of the kind {kind & ~_GOES_ON} came, which was not asked for.")
    room = limit + limit // 100 + FRAME  # what cannot be compressed grows a little
    stream, parts, whole = zlib.decompressobj(), [], 0
    first = kind & ~_GOES_ON
    while True:
        room -= size
        if size > FRAME or room < 0 or kind & ~_GOES_ON != first:
            raise WireError("A message is longer than it may be, or broken off by another.")
        part = _inflated(stream, take(size), limit - whole + 1)
        whole += len(part)
        parts.append(part)
        if whole > limit or (not size and kind & _GOES_ON):
            raise WireError(f"A message is longer than {limit} bytes.")
        if not kind & _GOES_ON:
            break
        kind, size = _head(take)
    if not stream.eof or stream.unused_data:
        raise WireError("A message is not whole.")
    return first, b"".join(parts)


def _head(take: Take) -> tuple[int, int]:
    kind, size = _HEAD.unpack(take(_HEAD.size))
    return int(kind), int(size)


def _inflated(stream: zlib._Decompress, raw: bytes, most: int) -> bytes:
    """At most `most` bytes, whatever a few compressed ones would become."""
    try:
        return stream.decompress(raw, most)
    except zlib.error:
        raise WireError("A message is damaged.") from None
