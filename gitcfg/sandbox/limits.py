"""What a guarded child may use, and how it is told that it used more."""

import msgspec

MEBIBYTE = 1 << 20


class Limits(msgspec.Struct, frozen=True):
    """Bytes, seconds and counts; processor and wall time are for one request."""

    memory: int = 512 * MEBIBYTE
    cpu_seconds: float = 0.5
    wall_seconds: float = 10.0
    answer: int = 4 * MEBIBYTE
    file: int = MEBIBYTE
    open_files: int = 64
    processes: int = 0


class GuardError(Exception):
    """A request that the child did not live to answer: `reason` continues "the template ...".

    `stderr` is the end of what the child wrote there.
    """

    def __init__(self, reason: str, stderr: str = "") -> None:
        super().__init__(reason, stderr)
        self.reason = reason
        self.stderr = stderr

    def __str__(self) -> str:
        return self.reason


class OutOfMemory(GuardError):
    """An end by want of memory, some of which earlier requests to the same child may still hold."""


class TimeUp(GuardError):
    """An end by want of the processor's time."""


class Killed(GuardError):
    """An end by SIGKILL, which comes from elsewhere: other requests may have brought it about, or nobody."""


def size_in_words(size: int) -> str:
    """A size as people say it: `512 MiB`."""
    for unit, name in ((1 << 30, "GiB"), (MEBIBYTE, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size} bytes"
