"""Files written whole or not at all, and durably."""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path


class FileChangedError(OSError):
    """Another program has written to the file in the meantime."""

    def __init__(self, file: Path) -> None:
        super().__init__(None, "It has changed in the meantime", str(file))


def write_program(place: Path, text: bytes) -> None:
    """Write a program, whole or not at all."""
    write_whole(place, text, 0o755)


def write_whole(place: Path, text: bytes, mode: int) -> None:
    """Write a file whole or not at all: its readers see the old content or the new."""
    with ExitStack() as undone:
        os.replace(_beside(place, text, mode, undone), place)
        undone.pop_all()
    sync(place.parent)


def write_new(place: Path, text: bytes, mode: int) -> None:
    """Write a new file, whole or not at all. Raise OSError if it already exists."""
    with ExitStack() as undone:
        os.link(_beside(place, text, mode, undone), place)
    sync(place.parent)


def _beside(place: Path, text: bytes, mode: int, undone: ExitStack) -> str:
    """Write a file in the same folder and return its path; `undone` deletes it."""
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name[:40]}.", suffix=".gitcfg", dir=place.parent)
    with open(descriptor, "wb") as file:
        undone.callback(os.unlink, name)
        file.write(text)
        file.flush()
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    return name


def sync(folder: Path) -> None:
    """Make the entries of a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_settings(file: Path, was: bytes, text: bytes) -> None:
    """Write a file of settings under its lock, as git does. Raise FileChangedError if it has changed."""
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
