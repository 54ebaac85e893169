"""How guard and child talk: four bytes of length, then that many bytes of msgpack."""

import os
from typing import Any

import msgspec

from gitcfg.sandbox.limits import GuardError

HEADER = 4


def encoded(payload: Any) -> bytes:
    """A request as it is sent. GuardError: it holds what cannot be."""
    try:
        return msgspec.msgpack.encode(payload)
    except (OverflowError, UnicodeEncodeError) as error:
        raise GuardError(f"cannot be given a value: {error}") from error


def frame(message: bytes) -> bytes:
    """A message with its length in front."""
    return len(message).to_bytes(HEADER) + message


def length(header: bytes | bytearray) -> int:
    """The length that a frame begins with."""
    return int.from_bytes(header[:HEADER])


def read_frame(line: int) -> bytes | None:
    """The next message, or None at the end."""
    header = _read(line, HEADER)
    if len(header) < HEADER:
        return None
    message = _read(line, length(header))
    return message if len(message) == length(header) else None


def write_frame(line: int, message: bytes) -> None:
    """Write a whole message."""
    unsent = memoryview(frame(message))
    while unsent:
        unsent = unsent[os.write(line, unsent) :]


def _read(line: int, size: int) -> bytes:
    data = os.read(line, size)
    if len(data) in (0, size):
        return data
    parts = bytearray(data)
    while len(parts) < size and (data := os.read(line, size - len(parts))):
        parts += data
    return bytes(parts)
