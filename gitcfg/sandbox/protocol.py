"""The limits of a guarded child, the errors that report its end, and the frames on its socket."""

import os
from typing import Any

import msgspec

MEBIBYTE = 1 << 20


class Limits(msgspec.Struct, frozen=True):
    """Limits in bytes, seconds and counts; processor and wall time are for one request."""

    memory: int = 512 * MEBIBYTE
    cpu_seconds: float = 0.5
    wall_seconds: float = 10.0
    answer: int = 4 * MEBIBYTE
    file: int = MEBIBYTE
    open_files: int = 64
    processes: int = 0


class GuardError(Exception):
    """A request that the child did not answer before its end.

    `reason` continues "the template ...". `stderr` is the end of the child's standard error.
    """

    def __init__(self, reason: str, stderr: str = "") -> None:
        super().__init__(reason, stderr)
        self.reason = reason
        self.stderr = stderr

    def __str__(self) -> str:
        return self.reason


class OutOfMemory(GuardError):
    """The child ran out of memory, some of which earlier requests may still hold."""


class TimeUp(GuardError):
    """The child used up its processor time."""


class Killed(GuardError):
    """The child was killed by SIGKILL, from outside: other requests may be the cause, or none."""


def size_in_words(size: int) -> str:
    """Return a readable size: `512 MiB`."""
    for unit, name in ((1 << 30, "GiB"), (MEBIBYTE, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"


# The messages of guard and child: four bytes of length, then that many bytes of msgpack.

HEADER = 4


def encoded(payload: Any) -> bytes:
    """Return an encoded request. Raise GuardError if it contains what cannot be encoded."""
    try:
        return msgspec.msgpack.encode(payload)
    except (OverflowError, UnicodeEncodeError) as error:
        raise GuardError(f"cannot be given a value: {error}") from error


def frame(message: bytes) -> bytes:
    """Return a message with its length in front."""
    return len(message).to_bytes(HEADER) + message


def length(header: bytes | bytearray) -> int:
    """Return the length at the begin of a frame."""
    return int.from_bytes(header[:HEADER])


def read_frame(line: int) -> bytes | None:
    """Return the next message, or None at the end."""
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


OUT_OF_MEMORY = 77
"""The exit status that reports a lack of memory."""
