"""The carried program, kept on the node for the next deploy: root's alone, and checked before each use."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress

from ..contents import remove_tree
from ..disk import Disk
from ..problems import InstallError
from ..store import FRESH, Store
from .loading import FOLDER, sealed


def keep(store: Store, program: bytes, key: str, compiled: Callable[[], bytes]) -> None:
    """Keep the program under its SHA-256, with its compiled form, and remove every other one.

    What cannot be kept (the disk is full) is carried again next time. Nothing is synced: what is not whole
    after a loss of power does not have its sum.
    """
    with suppress(OSError, InstallError):
        _own_folder(store)
        with store.folder(FOLDER) as at:
            for name in store.disk.names(at):
                if name not in (key, f"{key}.code"):
                    remove_tree(store.disk, at, name)
            _kept(store.disk, at, key, program)
            _kept(store.disk, at, f"{key}.code", sealed(compiled()))


def _own_folder(store: Store) -> None:
    """A folder that is anybody else's, or none, makes room for one of ours."""
    found = store.disk.stat(store.at, FOLDER)
    if found is not None:
        own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if own and stat.S_IMODE(found.st_mode) == 0o700:
            return
        store.remove(FOLDER)
    store.disk.make_folder(store.at, FOLDER, 0o700)


def _kept(disk: Disk, at: int, name: str, content: bytes) -> None:
    fresh = f"{name}.{os.getpid()}{FRESH}"
    file = disk.create(at, fresh)
    try:
        disk.write(file, content)
    except OSError:
        disk.unlink(at, fresh)
        raise
    finally:
        os.close(file)
    disk.rename(at, fresh, at, name)
