"""The pictures of pages in docs: small, shown somewhere, and what the browser has drawn."""

import struct
import zlib
from pathlib import Path

import pytest

from docs.pictures_small import SIGNATURE, chunk, chunks, small

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = sorted((DOCS / "pictures").glob("page-*.png"))
COLORS = (b"\xff\xff\xff", b"\x0a\x58\xb5", b"\x17\x69\x2f", b"\x01\x02\x03")
ROWS = [[COLORS[(x * x + y) % 4] for x in range(7)] for y in range(5)]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_small_and_shown(picture: Path) -> None:
    content = picture.read_bytes()
    assert content.startswith(SIGNATURE)
    assert len(content) < 150_000
    pages = [page.read_text() for page in (*DOCS.glob("*.md"), DOCS.parent / "README.md")]
    assert any(f"pictures/{picture.name})" in page for page in pages)


def test_there_are_pictures() -> None:
    assert len(PICTURES) == 3


@pytest.mark.parametrize("opaque", [b"", b"\xff"], ids=["three channels", "four"])
def test_a_small_picture_shows_the_same(opaque: bytes) -> None:
    """Each row is told in another of PNG's ways."""
    step = 3 + len(opaque)
    above, body = bytes(7 * step), b""
    for how, row in enumerate(ROWS):
        said = b"".join(color + opaque for color in row)
        body += bytes([how]) + bytes(
            (byte - _guess(how, said, above, at, step)) & 0xFF for at, byte in enumerate(said)
        )
        above = said
    head = struct.pack(">IIBBBBB", 7, 5, 8, 6 if opaque else 2, 0, 0, 0)
    png = SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(body)) + chunk(b"IEND", b"")
    assert _shown(small(png)) == ROWS


def _guess(how: int, row: bytes, above: bytes, at: int, step: int) -> int:
    left, up = row[at - step] if at >= step else 0, above[at]
    corner = above[at - step] if at >= step else 0
    near = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
    return (0, left, up, (left + up) // 2, near)[how]


def _shown(png: bytes) -> list[list[bytes]]:
    said = dict(chunks(png))
    width, height = struct.unpack_from(">II", said[b"IHDR"])
    raw, palette = zlib.decompress(said[b"IDAT"]), said[b"PLTE"]
    lines = [raw[at + 1 : at + 1 + width] for at in range(0, height * (width + 1), width + 1)]
    return [[palette[3 * number : 3 * number + 3] for number in line] for line in lines]
