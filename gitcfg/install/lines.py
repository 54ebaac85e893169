"""Lines with a checksum: a CRC-32, a blank and JSON. A last one that is half written is dropped."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from .problems import Damaged


def encoded(line: Mapping[str, Any]) -> bytes:
    """A line as it is written."""
    raw = json.dumps(line).encode()
    return b"%08x %s\n" % (zlib.crc32(raw), raw)


def decoded(raw: bytes) -> list[dict[str, Any]]:
    """The whole lines; Damaged for one that is and is not the last."""
    lines = [_line(part) for part in raw[: whole(raw)].split(b"\n")[:-1]]
    if None in lines:
        raise Damaged(
            f"The journal of an interrupted installation is damaged in line {lines.index(None) + 1}.",
            "Compare the files with what is meant, then remove the journal in the state folder.",
        )
    return [line for line in lines if line is not None]


def whole(raw: bytes) -> int:
    """How many bytes are whole lines.

    The end of a last line can reach the disk before its middle does. Of several that were not synced the same
    is true: what is missing is zeros, which hold no line end, so that all of them look like one.
    """
    size = raw.rfind(b"\n") + 1
    last = raw.rfind(b"\n", 0, size - 1) + 1 if size else 0
    if size == len(raw) and size and _line(raw[last : size - 1]) is None:
        return last
    return size


def _line(part: bytes) -> dict[str, Any] | None:
    crc, _, raw = part.partition(b" ")
    if crc != b"%08x" % zlib.crc32(raw):
        return None
    said: dict[str, Any] = json.loads(raw)
    return said
