"""Where logs are remembered: beside the objects of the repository, if its user may write there."""

import os

from gitcfg.cache.cache import cache_of
from gitcfg.git.repository import Repository
from gitcfg.history.log import Logs


def logs(folder: str, revision: str) -> Logs:
    """The logs of the repository that a folder belongs to."""
    repository = Repository.open(folder)
    return Logs(repository, revision, cache_of(repository, os.geteuid()))
