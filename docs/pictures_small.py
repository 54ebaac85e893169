"""Makes a screenshot small: PNG with 256 colours, of which pages have few more."""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # red, green, blue; and how opaque
_MOST = 256


def small(png: bytes) -> bytes:
    """The same picture in its commonest colours; others become the nearest of these."""
    width, height, rows = _read(png)
    pixels = [[row[at : at + 3] for at in range(0, len(row), len(row) // width)] for row in rows]
    counts = Counter(pixel for row in pixels for pixel in row)
    palette = [color for color, _ in counts.most_common(_MOST)]
    numbers = {color: number for number, color in enumerate(palette)}
    for color in counts.keys() - numbers.keys():
        numbers[color] = min(range(len(palette)), key=lambda number: _far(color, palette[number]))
    body = b"".join(b"\0" + bytes(map(numbers.__getitem__, row)) for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(body, 9)), (b"IEND", b""))
    return SIGNATURE + b"".join(chunk(kind, said) for kind, said in parts)


def _far(one: bytes, other: bytes) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def chunk(kind: bytes, said: bytes) -> bytes:
    """A part of a PNG file."""
    return struct.pack(">I", len(said)) + kind + said + struct.pack(">I", zlib.crc32(kind + said))


def chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a PNG file, each with its kind."""
    at = len(SIGNATURE)
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        at += length + 12


def _read(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height, and the bytes of each row."""
    found = list(chunks(png))
    width, height, _, kind = struct.unpack_from(">IIBB", found[0][1])
    raw = zlib.decompress(b"".join(said for name, said in found if name == b"IDAT"))
    step = _CHANNELS[kind]
    length = width * step
    rows, above = [], bytes(length)
    for at in range(0, height * (length + 1), length + 1):
        above = _unfiltered(raw[at], raw[at + 1 : at + 1 + length], above, step)
        rows.append(above)
    return width, height, rows


def _unfiltered(how: int, row: bytes, above: bytes, step: int) -> bytes:
    """A row as it was before its bytes were told as differences from their neighbours'."""
    found = bytearray(row)
    for at, byte in enumerate(row):
        left = found[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        guess = (0, left, above[at], (left + above[at]) // 2, _paeth(left, above[at], corner))[how]
        found[at] = (byte + guess) & 0xFF
    return bytes(found)


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))
