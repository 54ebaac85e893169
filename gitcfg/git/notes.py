"""Notes on commits (`git notes`), to which several processes may add at once."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitcfg.git.program import Git

_TRIES, _PAUSE = 100, 0.05  # adding a note takes 10 ms
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def append(git: Git, ref: str, commit: str, text: str) -> None:
    """Add a paragraph to what is noted on a commit under a ref. GitcfgError: git cannot."""
    # git reads the notes, then writes them whole: of two at once one would be lost.
    with _turn(git.folder):
        git.say("notes", f"--ref={ref}", "append", "-F", "-", commit, given=text.encode(), **git.identity())


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """One process at a time. A lock that nobody gives up in seconds, or that cannot be had, is no reason
    to note nothing."""
    place = os.open(folder, _FOLDER)
    try:
        for _ in range(_TRIES):
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_PAUSE)
            except OSError:
                break
            else:
                break
        yield
    finally:
        os.close(place)
