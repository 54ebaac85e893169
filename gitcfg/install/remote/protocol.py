"""Messages between the two ends of a deploy: compressed, cut into frames, and limited on both sides.

A frame is a byte (the kind of message; its highest bit says that the message goes on), four bytes of length,
and a part of the zlib stream of the message. The reader says what it takes, and how long it may be: the other
end is believed neither its lengths nor what it says will come.
"""

from __future__ import annotations

import os
import select
import struct
import time
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


def encode_message(kind: int, parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the frames of a message, compressing it piece by piece."""
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
    kind, size = _read_head(take)
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
        part = _inflate(stream, take(size), limit - whole + 1)
        whole += len(part)
        parts.append(part)
        if whole > limit or (not size and kind & _GOES_ON):
            raise WireError(f"A message is longer than {limit} bytes.")
        if not kind & _GOES_ON:
            break
        kind, size = _read_head(take)
    if not stream.eof or stream.unused_data:
        raise WireError("A message is not whole.")
    return first, b"".join(parts)


def _read_head(take: Take) -> tuple[int, int]:
    kind, size = _HEAD.unpack(take(_HEAD.size))
    return int(kind), int(size)


def _inflate(stream: zlib._Decompress, raw: bytes, most: int) -> bytes:
    """At most `most` bytes, whatever a few compressed ones would become."""
    try:
        return stream.decompress(raw, most)
    except zlib.error:
        raise WireError("A message is damaged.") from None


_IDLE, _STUCK = 900.0, 20.0
"""Seconds that the near end may think (it may have to compile a fleet), and that it may not read."""
_WRITE = 4096
"""Bytes that a pipe takes at once, without blocking, when it takes any."""
_HELD = 2048


class LineEnded(Exception):
    """Nobody is at the other end any more."""


class FarLine:
    """Once it is broken nothing more is said on it, and that is no error: an installation goes on."""

    def __init__(self, source: int = 0, sink: int = 1, first: bytes = b"") -> None:
        """`first` is said with the first message, in one packet with it."""
        self._source = source
        self._sink = sink
        self._held = first
        self.broken = False

    def receive(self, limits: Mapping[int, int]) -> tuple[int, bytes]:
        """The next message. LineEnded, or WireError for one that must not come."""
        return read_message(self._take, limits)

    def say(self, kind: int, parts: Iterable[bytes]) -> None:
        """Send a message, as far as the line is read."""
        for frame in encode_message(kind, parts):
            self._write(self._taken() + frame)

    def send_news(self, kind: int, parts: Iterable[bytes]) -> None:
        """Send a message that is only news, unless the near end does not read."""
        if not self.broken and select.select([], [self._sink], [], 0)[1]:
            self.say(kind, parts)

    def hold(self, kind: int, parts: Iterable[bytes]) -> None:
        """Send news with the next message: each packet is 0.1 ms of the near end."""
        if len(self._held) < _HELD:
            self._held += b"".join(encode_message(kind, parts))

    def flush(self) -> None:
        """Say what is held."""
        self._write(self._taken())

    def _taken(self) -> bytes:
        news, self._held = self._held, b""
        return news

    def _take(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            if not select.select([self._source], [], [], _IDLE)[0]:
                raise LineEnded
            try:
                more = os.read(self._source, size - len(found))
            except OSError:
                more = b""
            if not more:
                raise LineEnded
            found += more
        return found

    def _write(self, raw: bytes) -> None:
        until = time.monotonic() + _STUCK
        while raw and not self.broken:
            ready = select.select([], [self._sink], [], max(0.0, until - time.monotonic()))[1]
            try:
                written = os.write(self._sink, raw[:_WRITE]) if ready else 0
            except OSError:
                written = 0
            self.broken = not written
            raw = raw[written:]
