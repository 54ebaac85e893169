"""Files that editors read, brought up to date: only those that differ, each whole or not at all."""

import stat
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from gitcfg.fs import write_whole
from gitcfg.model import REFUSED, GitcfgError


class TargetFile(msgspec.Struct, frozen=True):
    """A file as it is to be. `was` is what that was made from, if it was made from what is there."""

    place: Path
    content: bytes
    was: bytes | None = None


def find_stale(wanted: Iterable[TargetFile]) -> tuple[TargetFile, ...]:
    """Those that are not as they are to be. GitcfgError (4): something else than a file is there."""
    return tuple(file for file in wanted if read_content(file.place) != file.content)


def read_content(place: Path) -> bytes | None:
    """What a file holds, None where nothing is. GitcfgError (4): a link leads to it, or it is no file."""
    if place.parent.resolve() != place.parent:
        raise GitcfgError(f"A link leads to {place.parent}.", "Replace it by a folder.", code=REFUSED)
    try:
        found = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise GitcfgError(f"{place} is no file.", "Move it away.", code=REFUSED)
    return place.read_bytes()


def write_files(
    wanted: Iterable[TargetFile], written: Callable[[TargetFile], None] = lambda file: None
) -> None:
    """Write the files, in order; `written` is told each that is there.

    GitcfgError (4): one was written by somebody else meanwhile.
    """
    for file in wanted:
        found = read_content(file.place)  # it refuses links, whatever may be written over
        if file.was is not None and found != file.was:
            raise GitcfgError(f"{file.place} has changed meanwhile.", "Try again.", code=REFUSED)
        file.place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file.place, file.content, _mode(file.place))
        written(file)


def _mode(place: Path) -> int:
    """The mode of the file that is there; a new one can be read by all, and written by its owner."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        return 0o644
