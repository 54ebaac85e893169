"""A folder of files that bear stamps, kept as it is meant: what others wrote there stays."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

import msgspec

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.output import places
from gitcfg.output.places import Blocked, Home
from gitcfg.output.stamp import HEAD, as_written, bears, is_ours
from gitcfg.output.state import claim

_SPARE = ".gitcfg-new-"
_MODE = 0o644


class Foreign(Enum):
    """What becomes of a file that is in the way, and that gitcfg has not written, or not as it is."""

    REFUSE = "refuse"
    REPLACE = "replace"


class Brought(msgspec.Struct, frozen=True):
    """How many files were written, removed and right; `kept` nobody means any more, but were changed."""

    written: int
    removed: int
    same: int
    kept: tuple[Path, ...]


def bring(top: Path, files: Mapping[str, bytes], own: Collection[str], foreign: Foreign) -> Brought:
    """Make a folder hold these files, and none of those that were written before and are not meant now.

    Stale files are looked for in the folders `own`, "" for the top itself. Each file is replaced whole.
    GitcfgError (4): something is in the way; then nothing is written.
    """
    top.mkdir(parents=True, exist_ok=True)
    with _alone(top):
        home = Home(str(top), ".")
        wanted = [path for path in sorted(files) if not _stands(top, home, path, files[path], foreign)]
        stale = sorted(set(_written(home, own)) - {f"/{path}" for path in files})
        ours = [path for path in stale if is_ours(places.content(home.folder + path))]
        for path in wanted:
            home.make(f"/{path}")
            spare = f"{home.folder}/{_SPARE}{os.getpid()}"
            places.put(f"{home.folder}/{path}", files[path], _MODE, spare)
        for path in ours:
            os.unlink(home.folder + path)
            home.prune(path)
    kept = tuple(top / path[1:] for path in stale if path not in ours)
    return Brought(len(wanted), len(ours), len(files) - len(wanted), kept)


def _stands(top: Path, home: Home, path: str, meant: bytes, foreign: Foreign) -> bool:
    """Is a file right? GitcfgError (4): it is not, and not gitcfg's either."""
    try:
        if home.state(f"/{path}") is None:
            return False
    except Blocked as error:
        raise GitcfgError(f"{top}{error}.", "Move it away.", code=REFUSED) from None
    content = places.content(f"{home.folder}/{path}")
    if as_written(content) == meant:
        return True
    if foreign is Foreign.REFUSE and not is_ours(content):
        hint = "Move it away, or say --force to replace it."
        raise GitcfgError(f"{top / path} is not as gitcfg wrote it.", hint, code=REFUSED)
    return False


def _written(home: Home, own: Collection[str]) -> Iterator[str]:
    """The files in some folders that bear a stamp, whether it is true or not."""
    for folder in own:
        parent = f"/{folder}" if folder else ""
        with suppress(Blocked):
            if home.state(f"{parent}/{_SPARE}") is None and os.path.isdir(home.folder + parent):
                yield from (path for path in _pages(home, parent) if _bears(home.folder + path))


def _pages(home: Home, parent: str) -> Iterator[str]:
    """The Markdown files in a folder."""
    for name in sorted(os.listdir(home.folder + parent)):
        with suppress(Blocked):
            if name.endswith(".md") and home.state(f"{parent}/{name}"):
                yield f"{parent}/{name}"


def _bears(place: str) -> bool:
    return bears(places.content(place)[:HEAD])


@contextmanager
def _alone(top: Path) -> Iterator[None]:
    """As the only gitcfg that writes there, where locks work; what one that was killed left is removed."""
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if claim(folder, top):
            for name in filter(lambda name: name.startswith(_SPARE), os.listdir(folder)):
                with suppress(OSError):  # somebody else's, in a folder of all
                    os.unlink(name, dir_fd=folder)
        yield
    finally:
        os.close(folder)
