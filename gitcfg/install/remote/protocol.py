"""The protocol between the two ends of a deploy: messages in frames, and packages in parts.

A frame is a byte (the kind of message; its highest bit means that another frame follows), four bytes of
length, and a part of the zlib stream of the message. The reader sets the kinds that it accepts and their
lengths: it trusts neither the other end's lengths nor its announcements. A package travels as parts, and only
those that the other end lacks. The parts are JSON that both ends write alike: the parameters, the subsystems,
and each file without its content. Their short ids always travel (8 bytes each), then the parts that the node
lacks, then the contents that it lacks. The sum of all parts detects equal short ids of different parts. A
small package without secrets travels in one message.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..package import file_digest

MARK = "gitcfg-far/1"
"""The beginning of the far end's first lines; output of a shell before it is skipped."""

HAVE = "have"
"""The word on such a line, before the program's first message, if the program was already on the node."""

HELLO, ORDER, LACKS, PARTS, CONTENTS, TOLD, DONE, PROBLEM = range(1, 9)
FRAME = 1 << 15
"""Maximal bytes of a frame."""

_GOES_ON = 0x80
_HEAD = struct.Struct(">BI")
_CHUNK = 1 << 20

Take = Callable[[int], bytes]


class WireError(Exception):
    """The other end sends something that it must not send."""


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
    """Return the next message. Raise WireError if its kind is not in `limits` or it is longer than its limit.

    Limits are in bytes. `take` returns exactly as many bytes as requested, or raises an error of its own.
    """
    kind, size = _read_head(take)
    limit = limits.get(kind & ~_GOES_ON)
    if limit is None:
        raise WireError(f"A message has the unexpected kind {kind & ~_GOES_ON}.")
    room = limit + limit // 100 + FRAME  # data that cannot be compressed grows a little
    stream, parts, whole = zlib.decompressobj(), [], 0
    first = kind & ~_GOES_ON
    while True:
        room -= size
        if size > FRAME or room < 0 or kind & ~_GOES_ON != first:
            raise WireError("A message is too long or is interrupted by another one.")
        part = _inflate(stream, take(size), limit - whole + 1)
        whole += len(part)
        parts.append(part)
        if whole > limit or (not size and kind & _GOES_ON):
            raise WireError(f"A message is longer than {limit} bytes.")
        if not kind & _GOES_ON:
            break
        kind, size = _read_head(take)
    if not stream.eof or stream.unused_data:
        raise WireError("A message is incomplete.")
    return first, b"".join(parts)


def _read_head(take: Take) -> tuple[int, int]:
    kind, size = _HEAD.unpack(take(_HEAD.size))
    return int(kind), int(size)


def _inflate(stream: zlib._Decompress, raw: bytes, most: int) -> bytes:
    """Return at most `most` bytes, even if the compressed data would become more."""
    try:
        return stream.decompress(raw, most)
    except zlib.error:
        raise WireError("A message is damaged.") from None


_IDLE, _STUCK = 900.0, 20.0
"""Seconds that the near end may think (it may have to compile a fleet), and that it may not read."""
_WRITE = 4096
"""Bytes that a pipe accepts at once without blocking, if it accepts any."""
_HELD = 2048


class LineEnded(Exception):
    """The other end is gone."""


class FarLine:
    """The line to the near end. If it breaks, messages are dropped, and the installation continues."""

    def __init__(self, source: int = 0, sink: int = 1, first: bytes = b"") -> None:
        """Use two file descriptors. `first` is sent with the first message, in one packet with it."""
        self._source = source
        self._sink = sink
        self._held = first
        self.broken = False

    def receive(self, limits: Mapping[int, int]) -> tuple[int, bytes]:
        """Return the next message. Raise LineEnded, or WireError for an unexpected message."""
        return read_message(self._take, limits)

    def say(self, kind: int, parts: Iterable[bytes]) -> None:
        """Send a message, as long as the near end reads."""
        for frame in encode_message(kind, parts):
            self._write(self._release_held() + frame)

    def send_news(self, kind: int, parts: Iterable[bytes]) -> None:
        """Send a message of progress, unless the near end does not read."""
        if not self.broken and select.select([], [self._sink], [], 0)[1]:
            self.say(kind, parts)

    def hold(self, kind: int, parts: Iterable[bytes]) -> None:
        """Send progress with the next message: each packet costs the near end 0.1 ms."""
        if len(self._held) < _HELD:
            self._held += b"".join(encode_message(kind, parts))

    def flush(self) -> None:
        """Send what is held."""
        self._write(self._release_held())

    def _release_held(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def _take(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            if not select.select([self._source], [], [], _IDLE)[0]:
                raise LineEnded
            more = b""
            with suppress(OSError):
                more = os.read(self._source, size - len(data))
            if not more:
                raise LineEnded
            data += more
        return data

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


# A package in parts.

ID = 8
SMALL = 8192
"""Bytes of a whole order, with its contents, that is sent at once: a request costs two more packets."""
_KEYS = ("schema", "node", "commit", "digest", "state", "features", "groups")
OWN = ("params", "subsystems")
FILE = ("mode", "owner", "group", "concerns", "sealed")


class Content(NamedTuple):
    """A content by its SHA-256, and its files; `secret` means a true content, which is never shown."""

    sha256: str
    size: int
    secret: bool
    paths: tuple[str, ...]


class Parts(NamedTuple):
    """A package in parts: `pieces` in a fixed order, and the contents by their SHA-256."""

    head: dict[str, Any]
    pieces: tuple[bytes, ...]
    contents: dict[str, bytes]


def split_package(package: Mapping[str, Any], hidden: Mapping[str, bytes]) -> Parts:
    """Return the parts of a gitcfg.node/1; `hidden` are the true contents of files that hold secrets."""
    contents: dict[str, bytes] = {}
    pieces = [canonical([key, package.get(key, {})]) for key in OWN]
    for path, file in sorted(package["files"].items()):
        part = {key: file[key] for key in FILE if key in file}
        part["content"] = _add_content(contents, raw_content(file))
        if path in hidden:
            part["sealed"] = None
            part["hidden"] = _add_content(contents, hidden[path])
        elif file.get("hidden"):
            part["hidden"] = [file["hidden"]["sha256"], file["hidden"]["size"]]
        pieces.append(canonical(["file", path, part]))
    head = {key: package[key] for key in _KEYS if key in package}
    return Parts(head, tuple(pieces), contents)


def list_contents(pieces: Iterable[bytes]) -> tuple[Content, ...]:
    """Return the contents that files need, each once, in an order that is the same on both ends."""
    found: dict[tuple[str, bool], Content] = {}
    for piece in pieces:
        part = json.loads(piece)
        if part[0] == "file":
            for key in ("content", "hidden"):
                if part[2].get(key):
                    sha256, size = part[2][key]
                    if type(size) is not int:
                        raise TypeError("a size is not a number")
                    name = (str(sha256), key == "hidden")
                    known = found.get(name, Content(name[0], size, name[1], ()))
                    found[name] = known._replace(paths=(*known.paths, str(part[1])))
    return tuple(found.values())


def short_ids(pieces: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the short id of each piece."""
    return tuple(hashlib.sha256(piece).digest()[:ID] for piece in pieces)


def whole_sum(pieces: Sequence[bytes]) -> str:
    """Return the SHA-256 that represents all pieces."""
    whole = hashlib.sha256()
    for piece in pieces:
        whole.update(hashlib.sha256(piece).digest())
    return whole.hexdigest()


def canonical(value: object) -> bytes:
    """Return JSON that is the same on every machine."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def raw_content(file: Mapping[str, Any]) -> bytes:
    """Return the content of a file as bytes."""
    if "content" in file:
        return str(file["content"]).encode()
    import base64

    return base64.b64decode(file["base64"])


def _add_content(contents: dict[str, bytes], content: bytes) -> list[object]:
    sha256 = hashlib.sha256(content).hexdigest()
    contents[sha256] = content
    return [sha256, len(content)]


def join_package(
    head: Mapping[str, Any], pieces: Iterable[bytes], contents: Mapping[str, bytes]
) -> dict[str, Any]:
    """Return the package from its parts, without the true contents; the files' digests are computed again.

    Raise ValueError, KeyError or TypeError if it is not a package.
    """
    package: dict[str, Any] = {**head, "files": {}}
    for piece in pieces:
        part = json.loads(piece)
        if part[0] == "file":
            package["files"][part[1]] = _join_file(part[2], contents)
        elif part[0] in OWN:
            package[part[0]] = part[1]
    return package


def _join_file(part: Mapping[str, Any], contents: Mapping[str, bytes]) -> dict[str, Any]:
    import base64

    content = contents[part["content"][0]]
    file = {key: part[key] for key in FILE if key in part}
    file["digest"] = file_digest(str(part["mode"]), str(part["owner"]), str(part["group"]), content)
    try:
        file["content"] = content.decode()
    except UnicodeDecodeError:
        file["base64"] = base64.b64encode(content).decode()
    if part.get("hidden"):
        file["hidden"] = {"sha256": part["hidden"][0], "size": part["hidden"][1]}
    return file
