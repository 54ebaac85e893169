"""A folder of files that bear stamps, kept as it is meant: what others wrote there stays."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

import msgspec

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.output import places
from gitcfg.output.places import Blocked, NodeFolder
from gitcfg.output.stamp import HEAD, has_stamp, is_ours, normalize_line_ends
from gitcfg.output.state import lock_folder

_SPARE = ".gitcfg-new-"
_MODE = 0o644


class Foreign(Enum):
    """What becomes of a file that is in the way, and that gitcfg has not written, or not as it is."""

    REFUSE = "refuse"
    REPLACE = "replace"


class StampedChanges(msgspec.Struct, frozen=True):
    """How many files were written, removed and right; `kept` nobody means any more, but were changed."""

    written: int
    removed: int
    same: int
    kept: tuple[Path, ...]


def update_stamped_folder(
    top: Path, files: Mapping[str, bytes], own: Collection[str], foreign: Foreign
) -> StampedChanges:
    """Make a folder hold these files, and none of those that were written before and are not meant now.

    Stale files are looked for in the folders `own`, "" for the top itself. Each file is replaced whole.
    GitcfgError (4): something is in the way; then nothing is written.
    """
    top.mkdir(parents=True, exist_ok=True)
    with _locked(top):
        home = NodeFolder(str(top), ".")
        wanted = [path for path in sorted(files) if not _is_right(top, home, path, files[path], foreign)]
        stale = sorted(set(_find_stamped(home, own)) - {f"/{path}" for path in files})
        ours = [path for path in stale if is_ours(places.read_content(home.folder + path))]
        for path in wanted:
            home.make(f"/{path}")
            spare = f"{home.folder}/{_SPARE}{os.getpid()}"
            places.write_file(f"{home.folder}/{path}", files[path], _MODE, spare)
        for path in ours:
            os.unlink(home.folder + path)
            home.prune(path)
    kept = tuple(top / path[1:] for path in stale if path not in ours)
    return StampedChanges(len(wanted), len(ours), len(files) - len(wanted), kept)


def _is_right(top: Path, home: NodeFolder, path: str, meant: bytes, foreign: Foreign) -> bool:
    """Is a file right? GitcfgError (4): it is not, and not gitcfg's either."""
    try:
        if home.state(f"/{path}") is None:
            return False
    except Blocked as error:
        raise GitcfgError(f"{top}{error}.", "Move it away.", code=REFUSED) from None
    content = places.read_content(f"{home.folder}/{path}")
    if normalize_line_ends(content) == meant:
        return True
    if foreign is Foreign.REFUSE and not is_ours(content):
        hint = "Move it away, or say --force to replace it."
        raise GitcfgError(f"{top / path} is not as gitcfg wrote it.", hint, code=REFUSED)
    return False


def _find_stamped(home: NodeFolder, own: Collection[str]) -> Iterator[str]:
    """The files in some folders that bear a stamp, whether it is true or not."""
    for folder in own:
        parent = f"/{folder}" if folder else ""
        with suppress(Blocked):
            if home.state(f"{parent}/{_SPARE}") is None and os.path.isdir(home.folder + parent):
                yield from (path for path in _pages(home, parent) if _bears(home.folder + path))


def _pages(home: NodeFolder, parent: str) -> Iterator[str]:
    """The Markdown files in a folder."""
    for name in sorted(os.listdir(home.folder + parent)):
        with suppress(Blocked):
            if name.endswith(".md") and home.state(f"{parent}/{name}"):
                yield f"{parent}/{name}"


def _bears(place: str) -> bool:
    return has_stamp(places.read_content(place)[:HEAD])


@contextmanager
def _locked(top: Path) -> Iterator[None]:
    """As the only gitcfg that writes there, where locks work; what one that was killed left is removed."""
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if lock_folder(folder, top):
            for name in filter(lambda name: name.startswith(_SPARE), os.listdir(folder)):
                with suppress(OSError):  # somebody else's, in a folder of all
                    os.unlink(name, dir_fd=folder)
        yield
    finally:
        os.close(folder)
