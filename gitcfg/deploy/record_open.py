"""Opens the files of deploys for reading: regular ones alone, and says whether somebody writes to them."""

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_LARGEST = 512 * 1024 * 1024
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def content(path: Path) -> tuple[bytes, bool]:
    """What a file says, and whether its writer is there, which is asked first: so nothing is missed."""
    with opened(path) as file:
        at_work = going(file)
        if os.fstat(file).st_size > _LARGEST:
            raise ValueError("it is too large")
        with open(file, "rb", closefd=False) as text:
            return text.read(_LARGEST), at_work


@contextlib.contextmanager
def opened(path: Path) -> Iterator[int]:
    """A file that is there, as a descriptor. OSError, ValueError: it is none that can be read."""
    file = os.open(path, _OPEN)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError("it is no regular file")
        yield file
    finally:
        os.close(file)


def going(file: int) -> bool:
    """Who writes holds a lock, which ends with its process however that ends."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    fcntl.flock(file, fcntl.LOCK_UN)
    return False
