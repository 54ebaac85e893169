"""Which program an answer comes from: another's is not believed."""

import os
from collections.abc import Iterator
from functools import cache

import gitcfg


@cache
def program() -> str:
    """The program's version and when its files changed last: who works on it keeps the version's name.

    Looking at 500 files takes 2 ms.
    """
    try:
        newest = max(_changes(os.path.dirname(gitcfg.__file__)), default=0)
    except OSError:  # it runs out of an archive
        newest = 0
    return f"{gitcfg.__version__} {newest}"


def _changes(folder: str) -> Iterator[int]:
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from () if entry.name == "__pycache__" else _changes(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.stat().st_mtime_ns
