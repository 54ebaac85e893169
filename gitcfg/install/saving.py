"""What stands, saved under another name: a second name of the same file where the file system lets it be.

A second name costs no room, and putting it back is a rename, which a full disk does not hinder; it brings
back times, attributes and access lists too.
"""

from __future__ import annotations

import errno

from .contents import put, take
from .disk import Disk
from .paths import name_of, parent_of
from .standing import LARGEST, LINK, Standing
from .store import Store

Where = tuple[int, str]
"""An open folder and a name in it."""

NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP)


def save(store: Store, path: str, stands: Standing, to: Where) -> None:
    """What stands at a path, also there."""
    with store.tree.folder(parent_of(path)) as at:
        try:
            store.disk.link(at, name_of(path), *to)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            copy(store.disk, (at, name_of(path)), to, stands)


def copy(disk: Disk, source: Where, to: Where, stands: Standing) -> None:
    """A link or a file anew, with its owner and mode, on the disk."""
    if stands.kind == LINK:
        disk.symlink(stands.target, *to)
        return
    content = take(disk, *source, most=LARGEST)
    put(disk, *to, content, (stands.uid, stands.gid), stands.mode)
