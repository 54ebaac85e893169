"""The escapes of cases, and the lines of their sections."""

import re

_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([nrt0\\])|(\n))")
_REPEAT = re.compile(r"\\\*(\d+)\{(.*?)\}", re.DOTALL)
_PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"\\": b"\\"}


def unescape(text: str) -> bytes:
    """The bytes that a text with escapes stands for."""
    repeated = _REPEAT.sub(lambda match: match[2] * int(match[1]), text)
    return _ESCAPE.sub(_byte, repeated.encode())


def _byte(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return bytes([int(match[1], 16)])
    if match[2]:
        return chr(int(match[2], 16)).encode()
    return _PLAIN[match[3]] if match[3] else b""


def lines(body: str) -> list[str]:
    """The lines of a section that say something."""
    return [line for line in body.splitlines() if line.strip() and not line.startswith("#")]
