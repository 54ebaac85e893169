"""DIR/.gitcfg: what an output folder keeps for itself, for one process at a time."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from gitcfg.model import REFUSED, GitcfgError

NAME = ".gitcfg"
_TRIES, _PAUSE = 60, 0.05  # workers of a process that was killed may take a moment to end
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK})


class StateFolder(msgspec.Struct, frozen=True):
    """An output folder, and where its own things are. `locked`: no other gitcfg writes there now."""

    top: Path
    locked: bool = True

    @property
    def home(self) -> Path:
        """The folder of all of them."""
        return self.top / NAME

    @property
    def manifest(self) -> Path:
        """What was written, as of the last run that came to its end."""
        return self.home / "manifest"

    @property
    def journal(self) -> Path:
        """What a run writes that has not come to its end."""
        return self.home / "journal"

    @property
    def spare(self) -> Path:
        """The folder of files that are not whole yet."""
        return self.home / "new"


@contextmanager
def open_state(top: Path) -> Iterator[StateFolder]:
    """An output folder, made if need be. GitcfgError: another gitcfg writes there, or it is none."""
    state = StateFolder(top)
    for folder in (top, state.home, state.spare):
        _make(folder, named=folder == top)
    # Forked workers hold the lock too: it is free when the last of them has ended, whatever became of us.
    lock = os.open(state.home / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        locked = lock_folder(lock, top)
        with _clearing(state.spare):
            yield StateFolder(top, locked)
    finally:
        os.close(lock)


@contextmanager
def _clearing(spare: Path) -> Iterator[None]:
    """Remove what is unfinished, of a run that was ended and of this one."""
    _clear(spare)
    try:
        yield
    finally:
        with suppress(OSError):
            _clear(spare)


def _clear(spare: Path) -> None:
    for name in os.listdir(spare):
        (spare / name).unlink(missing_ok=True)


def _make(folder: Path, named: bool) -> None:
    """Make a folder unless it is there. Only one that was named may be reached through a link."""
    if (folder.is_symlink() and not named) or (folder.exists() and not folder.is_dir()):
        raise GitcfgError(f"{folder} is no folder.", "Name another one." if named else "Remove it.")
    folder.mkdir(parents=named, exist_ok=True)


def lock_folder(lock: int, top: Path) -> bool:
    """Lock a folder by an open file; False where the file system has no locks. GitcfgError: it is taken."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return False
        else:
            return True
    hint = "Wait until it is done, or write elsewhere."
    raise GitcfgError(f"Another gitcfg is writing to {top}.", hint, code=REFUSED)
