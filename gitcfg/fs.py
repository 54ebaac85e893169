"""Files that are there whole from one moment to the next, and on the disk after it."""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path


class FileChangedError(OSError):
    """Another program has written to a file meanwhile."""

    def __init__(self, file: Path) -> None:
        super().__init__(None, "It has changed meanwhile", str(file))


def write_program(place: Path, text: bytes) -> None:
    """A program that is there whole from one moment to the next."""
    write_whole(place, text, 0o755)


def write_whole(place: Path, text: bytes, mode: int) -> None:
    """A file that is there whole from one moment to the next: who reads it sees the old one or the new."""
    with ExitStack() as undone:
        os.replace(_beside(place, text, mode, undone), place)
        undone.pop_all()
    sync(place.parent)


def write_new(place: Path, text: bytes, mode: int) -> None:
    """A file that was not there, and is there whole from one moment to the next. OSError: it is there."""
    with ExitStack() as undone:
        os.link(_beside(place, text, mode, undone), place)
    sync(place.parent)


def _beside(place: Path, text: bytes, mode: int, undone: ExitStack) -> str:
    """A file in the same folder that holds a text; `undone` takes it away."""
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name[:40]}.", suffix=".gitcfg", dir=place.parent)
    with open(descriptor, "wb") as file:
        undone.callback(os.unlink, name)
        file.write(text)
        file.flush()
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    return name


def sync(folder: Path) -> None:
    """What stands in a folder, and what no longer does, is on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_settings(file: Path, was: bytes, text: bytes) -> None:
    """Write a file of settings as git does: who holds its lock may. Changed: it is not what it was."""
    lock = file.with_name(f"{file.name}.lock")
    with ExitStack() as undone:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        undone.callback(lock.unlink)
        with open(descriptor, "wb") as held:
            if file.read_bytes() != was:
                raise FileChangedError(file)
            os.fchmod(descriptor, file.stat().st_mode & 0o7777)
            held.write(text)
            held.flush()
            os.fsync(descriptor)
        os.replace(lock, file)
        undone.pop_all()
