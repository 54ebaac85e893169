"""Writes several files so that all are written or none is, whenever the program is killed.

What shall be written is in a journal first; whoever edits next finishes what a journal says. A journal is
there whole or not at all, so before that nothing has been written, and after that everything will be.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

import msgspec

from gitcfg.edit.whole import sync, write_whole
from gitcfg.model import REFUSED, GitcfgError

_NAME = "gitcfg-edit"
_MODE = 0o644


class FileChange(msgspec.Struct, frozen=True):
    """What a file held, and what it is to hold; None: it is not there."""

    was: bytes | None
    text: bytes | None


Files = Mapping[str, FileChange]


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Be the only one who edits; `folder` is where the journal is. Who waits goes on when this ends."""
    descriptor = os.open(folder / f"{_NAME}.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def finish(root: Path, folder: Path) -> tuple[str, ...]:
    """Finish what an edit that was killed has begun, and say which files it wrote.

    GitcfgError (4): somebody has changed one of the files since; nothing is touched.
    """
    journal = folder / _NAME
    if not journal.exists():
        return ()
    try:
        files = msgspec.msgpack.decode(journal.read_bytes(), type=dict[str, FileChange])
    except msgspec.DecodeError:
        raise GitcfgError(f"{journal} is no journal of gitcfg's.", "Look at it, then delete it.") from None
    _carry_out(root, files, journal)
    return tuple(files)


def is_pending(folder: Path) -> bool:
    """Has an edit been killed, or is one under way?"""
    return (folder / _NAME).exists()


def write_files(root: Path, folder: Path, files: Files) -> None:
    """Write files below a folder, or take them away. GitcfgError (4): one is not what it was."""
    _judge(root, files, folder / _NAME, begun=False)
    write_whole(folder / _NAME, msgspec.msgpack.encode(files), 0o600)
    try:
        _carry_out(root, files, folder / _NAME)
    except OSError:  # the disk is full, or a folder may not be written: whoever asked is told
        _undo(root, files, folder / _NAME)
        raise


def _carry_out(root: Path, files: Files, journal: Path) -> None:
    _judge(root, files, journal, begun=True)
    for path, file in files.items():
        place = root / path
        if _held(place) != file.text:
            _put(place, file.text)
    journal.unlink()
    sync(journal.parent)


def _undo(root: Path, files: Files, journal: Path) -> None:
    """Put back what has been written. OSError: that fails too, so whoever edits next shall finish it."""
    for path, file in files.items():
        if _held(root / path) != file.was:
            _put(root / path, file.was)
    journal.unlink()
    sync(journal.parent)


def _put(place: Path, text: bytes | None) -> None:
    if text is None:
        place.unlink()
        sync(place.parent)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, text, stat.S_IMODE(place.stat().st_mode) if place.exists() else _MODE)


def _judge(root: Path, files: Files, journal: Path, *, begun: bool) -> None:
    """GitcfgError (4): a file is not what it was, nor what it shall be, or a link leads to it."""
    for path, file in files.items():
        place = root / path
        link = next((part for part in (place, *place.parents) if part != root and _is_link(part, root)), None)
        if link is not None:
            raise GitcfgError(f"{link} is a symbolic link.", "Edit the file itself.", code=REFUSED)
        held = _held(place)
        if held != file.was and not (begun and held == file.text):
            hint = f"To give up that edit, delete {journal}." if begun else "Try again."
            raise GitcfgError(f"{path} has changed meanwhile.", hint, code=REFUSED)


def _is_link(place: Path, root: Path) -> bool:
    return root in place.parents and place.is_symlink()


def _held(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def finish_if_interrupted(root: Path, folder: Path) -> Iterator[None]:
    """Who interrupts the writing of files by a journal has them all: that takes no longer than to undo it."""
    try:
        yield
    except KeyboardInterrupt:
        finish(root, folder)
        raise
