"""Where logs are remembered: beside the objects of the repository, if its user may write there."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

from gitcfg.git.history import shared_folder
from gitcfg.git.repository import Repository
from gitcfg.history.cache import Cache
from gitcfg.history.log import Logs


def logs(folder: str, revision: str) -> Logs:
    """The logs of the repository that a folder belongs to."""
    repository = Repository.open(folder)
    home = shared_folder(repository)
    cache = None if home is None else Cache(home / "gitcfg", os.geteuid())
    return Logs(repository, revision, cache)


@contextmanager
def unswept() -> Iterator[None]:
    """Without looking for garbage: nearly all that is read is kept, and that took a sixth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
