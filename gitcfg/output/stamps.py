"""Files with a stamp that says that gitcfg wrote them, and folders of such files.

A stamp has the digest of the rest of its file, so that changes by others are recognized. It stays valid in
git and after a checkout, which may change line ends.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

import msgspec

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.output.files import Blocked, NodeFolder, read_content, write_file
from gitcfg.output.manifest import lock_folder

_NONE = "0" * 64
_STAMP = "<!-- Made by gitcfg export docs; changes will be lost. sha256:{} -->\n"
_STAMPED = re.compile(
    rb"\A(?:<!DOCTYPE html>\n)?<!-- Made by gitcfg export docs; [a-z .]*sha256:([0-9a-f]{64}) -->\n"
)
_HEAD = 256  # bytes that are enough for any stamp


def add_stamp(text: str, before: str = "") -> bytes:
    """Return a file with a stamp; `before` is text that must be its first line."""
    blank = (before + _STAMP.format(_NONE) + text).encode("utf-8", "backslashreplace")
    return blank.replace(_NONE.encode(), hashlib.sha256(blank).hexdigest().encode(), 1)


def is_ours(content: bytes) -> bool:
    """Return whether gitcfg wrote this, and it has not been changed since."""
    plain = normalize_line_ends(content)
    stamp = _STAMPED.match(plain)
    if stamp is None:
        return False
    blank = plain.replace(stamp[1], _NONE.encode(), 1)
    return hashlib.sha256(blank).hexdigest().encode() == stamp[1]


def normalize_line_ends(content: bytes) -> bytes:
    """Return a content with gitcfg's line ends."""
    return content.replace(b"\r\n", b"\n")


# The folder

_SPARE = ".gitcfg-new-"
_MODE = 0o644


class Foreign(Enum):
    """What to do with a file at the same path that gitcfg did not write, or that was changed since."""

    REFUSE = "refuse"
    REPLACE = "replace"


class StampedChanges(msgspec.Struct, frozen=True):
    """The numbers of files written, removed and right; `kept` are stale files that were changed by others."""

    written: int
    removed: int
    same: int
    kept: tuple[Path, ...]


def update_stamped_folder(
    top: Path, files: Mapping[str, bytes], own: Collection[str], foreign: Foreign
) -> StampedChanges:
    """Write these files into a folder, and remove stale ones: written before, and not among these.

    Stale files are searched in the folders `own`, "" for the top itself. Each file is replaced whole. Raise
    GitcfgError (4) if there is an obstacle; nothing is then written.
    """
    top.mkdir(parents=True, exist_ok=True)
    with _locked(top):
        home = NodeFolder(str(top), ".")
        missing = [path for path in sorted(files) if not _is_right(top, home, path, files[path], foreign)]
        stale = sorted(set(_find_stamped(home, own)) - {f"/{path}" for path in files})
        ours = [path for path in stale if is_ours(read_content(home.folder + path))]
        for path in missing:
            home.make(f"/{path}")
            spare = f"{home.folder}/{_SPARE}{os.getpid()}"
            write_file(f"{home.folder}/{path}", files[path], _MODE, spare)
        for path in ours:
            os.unlink(home.folder + path)
            home.prune(path)
    kept = tuple(top / path[1:] for path in stale if path not in ours)
    return StampedChanges(len(missing), len(ours), len(files) - len(missing), kept)


def _is_right(top: Path, home: NodeFolder, path: str, intended: bytes, foreign: Foreign) -> bool:
    """Return whether a file is right. Raise GitcfgError (4) if it is neither right nor gitcfg's."""
    try:
        if home.state(f"/{path}") is None:
            return False
    except Blocked as error:
        raise GitcfgError(f"{top}{error}.", "Move it away.", code=REFUSED) from None
    content = read_content(f"{home.folder}/{path}")
    if normalize_line_ends(content) == intended:
        return True
    if foreign is Foreign.REFUSE and not is_ours(content):
        hint = "Move it away, or use --force to replace it."
        raise GitcfgError(f"{top / path} was changed, or not written by gitcfg.", hint, code=REFUSED)
    return False


def _find_stamped(home: NodeFolder, own: Collection[str]) -> Iterator[str]:
    """Yield the files in some folders that have a stamp, valid or not."""
    for folder in own:
        parent = f"/{folder}" if folder else ""
        with suppress(Blocked):
            if home.state(f"{parent}/{_SPARE}") is None and os.path.isdir(home.folder + parent):
                for path in _find_pages(home, parent):
                    head = read_content(home.folder + path)[:_HEAD]
                    if _STAMPED.match(normalize_line_ends(head)):
                        yield path


def _find_pages(home: NodeFolder, parent: str) -> Iterator[str]:
    """Yield the Markdown files in a folder."""
    for name in sorted(os.listdir(home.folder + parent)):
        with suppress(Blocked):
            if name.endswith(".md") and home.state(f"{parent}/{name}"):
                yield f"{parent}/{name}"


@contextmanager
def _locked(top: Path) -> Iterator[None]:
    """Lock the folder, if the file system has locks, and remove files of a killed run."""
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if lock_folder(folder, top):
            for name in filter(lambda name: name.startswith(_SPARE), os.listdir(folder)):
                with suppress(OSError):  # another user's file, in a shared folder
                    os.unlink(name, dir_fd=folder)
        yield
    finally:
        os.close(folder)
