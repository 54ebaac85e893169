"""Changes to a folder of hooks, made all or not at all, and never so that there is no hook meanwhile."""

import errno
import os
from collections.abc import Iterable
from contextlib import ExitStack
from enum import Enum
from pathlib import Path

import msgspec

from gitcfg.edit.hooks import BEFORE
from gitcfg.edit.whole import write_program, write_settings
from gitcfg.model import REFUSED, GitcfgError

# Not every file system has hard links, and Linux lets nobody link a file that is not his own.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class Action(Enum):
    """What a step does to its place."""

    MAKE = "a folder is made"
    KEEP = "the hook that is there is kept under another name"
    WRITE = "a hook is written"
    STAY = "nothing: the hook is as it shall be"
    RESTORE = "the hook that was there before is put back"
    DELETE = "the hook goes, as none was there before"
    UNMAKE = "the folder goes if it is empty"
    SET = "a file of settings is written"


class Step(msgspec.Struct, frozen=True):
    """One change. `was` is what of gitcfg's or git's own the place held, `text` what it then holds."""

    deed: Action
    place: Path
    was: bytes | None = None
    text: bytes = b""


def kept_path(place: Path) -> Path:
    """Where the hook is kept that was there before."""
    return place.with_name(place.name + BEFORE)


def is_same_file(one: Path, other: Path) -> bool:
    """Are they two names of one file? A link is not what it leads to."""
    return os.path.samestat(os.lstat(one), os.lstat(other)) if os.path.lexists(one) else False


def refusal(message: str, hint: str) -> GitcfgError:
    """Something is in the way, and stays as it is."""
    return GitcfgError(message, hint, code=REFUSED)


def carry_out_steps(steps: Iterable[Step]) -> None:
    """Do all of them. GitcfgError (4): one cannot be done, and all is as it was before."""
    with ExitStack() as undone:
        for step in steps:
            try:
                _do(step, undone)
            except OSError as error:
                raise refusal(
                    f"{error.filename or step.place}: {error.strerror}. Nothing was changed.",
                    f"Whoever runs this must be able to write in {step.place.parent}.",
                ) from None
        undone.pop_all()


def _do(step: Step, undone: ExitStack) -> None:
    match step.deed:
        case Action.MAKE:
            step.place.mkdir()
            undone.callback(step.place.rmdir)
        case Action.KEEP:
            _keep(step.place, undone)
        case Action.WRITE:
            _write(step, undone)
        case Action.RESTORE:
            os.replace(kept_path(step.place), step.place)
            undone.callback(write_program, step.place, step.was or b"")
            undone.callback(os.rename, step.place, kept_path(step.place))
        case Action.DELETE:
            step.place.unlink()
            undone.callback(write_program, step.place, step.was or b"")
        case Action.UNMAKE:
            if not any(step.place.iterdir()):
                step.place.rmdir()
        case Action.SET:
            write_settings(step.place, step.was or b"", step.text)
            undone.callback(write_settings, step.place, step.text, step.was or b"")
        case Action.STAY:
            pass


def _keep(place: Path, undone: ExitStack) -> None:
    # Two names for a moment: git must never find none, or it would take any push.
    kept = kept_path(place)
    if not (os.path.lexists(kept) and is_same_file(place, kept)):
        try:
            os.link(place, kept, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.rename(place, kept)
    undone.callback(_put_back, place)


def _put_back(place: Path) -> None:
    os.replace(kept_path(place), place)
    # Renaming one of two names of a file to the other does nothing, and is no error.
    kept_path(place).unlink(missing_ok=True)


def _write(step: Step, undone: ExitStack) -> None:
    there = os.path.lexists(step.place) or os.path.lexists(kept_path(step.place))
    write_program(step.place, step.text)
    if step.was is not None:
        undone.callback(write_program, step.place, step.was)
    elif not there:
        undone.callback(step.place.unlink)
