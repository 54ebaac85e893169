"""Writes several files so that all are written or none is, whenever the program is killed.

A journal says first what is to be written, and whoever edits next finishes it. The journal is there whole or
not at all: before it nothing has been written, after it everything will be.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

import msgspec

from gitcfg.fs import sync, write_whole
from gitcfg.git.program import Git
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown

_NAME = "gitcfg-edit"
_MODE = 0o644


class FileChange(msgspec.Struct, frozen=True):
    """What a file held, and what it is to hold; None: it is not there."""

    was: bytes | None
    text: bytes | None


Files = Mapping[str, FileChange]


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold the lock of edits; `folder` is where the journal is. Others wait until this ends."""
    descriptor = os.open(folder / f"{_NAME}.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        flock(descriptor, LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def finish(root: Path, folder: Path) -> tuple[str, ...]:
    """Finish what an edit that was killed has begun, and return the files that it wrote.

    Raise GitcfgError (4) if somebody has changed one of the files since; nothing is touched.
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
    """Return whether there is a journal: an edit was killed, or is under way."""
    return (folder / _NAME).exists()


def write_files(root: Path, folder: Path, files: Files) -> None:
    """Write or delete files below a folder. Raise GitcfgError (4) if one is not what it was."""
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
    """Put back what has been written. Raise OSError if that fails too: the next edit then finishes it."""
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
    """Raise GitcfgError (4) if a file is not what it was, nor what it shall be, or a link leads to it."""
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
    """Finish writing if it is interrupted: that takes no longer than to undo it."""
    try:
        yield
    except KeyboardInterrupt:
        finish(root, folder)
        raise


# Commits of just the files that an edit wrote: what else is staged stays staged.


def commit_files(git: Git, repository: Repository, paths: Iterable[str], message: str) -> str:
    """Commit files as they are in the work tree, and return the commit's id.

    Raise GitcfgError if git, or a hook, does not want that (1); then the index is as it was.
    """
    top = work_tree(repository)
    inside = f"{repository.prefix}/" if repository.prefix else ""
    files = [f"{inside}{path}" for path in paths]
    here = ("-C", str(top), f"--work-tree={top}", "--literal-pathspecs")
    tracked = set(git.say(*here, "ls-files", "-z", "--", *files).split("\0"))
    files = [file for file in files if file in tracked or (top / file).exists()]
    if not files:
        raise GitcfgError("git does not know these files, so there is nothing to commit.", "Drop --commit.")
    new = [file for file in files if file not in tracked]
    if new:
        git.say(*here, "add", "--intent-to-add", "--", *new)
    code, told, error = git.ask(*here, "commit", "--quiet", "--only", "-m", message, "--", *files)
    if code:
        if new:
            git.say(*here, "rm", "--quiet", "--cached", "--force", "--", *new)
        said = [line for line in (*told.splitlines(), *error.splitlines()) if line.strip()]
        raise GitcfgError(
            "`git commit` does not take the edit, so nothing was changed.",
            *(f"git says: {shown(line.strip(), most=200)}" for line in said),
            code=1,
        )
    return git.say("rev-parse", "HEAD")


def work_tree(repository: Repository) -> Path:
    """Return the top of the work tree. Raise GitcfgError if there is none."""
    git = repository.git_or_error("nothing can be committed in it")
    if not git.workdir:
        raise GitcfgError(f"{repository.root} is no work tree of git's, so nothing can be committed in it.")
    return Path(git.workdir).resolve()
