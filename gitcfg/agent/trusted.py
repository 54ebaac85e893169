"""Reading a file that decides what may happen on this node: only if nobody else could have written it."""

from __future__ import annotations

import os
import stat

from ..install.contents import read
from .problems import SettingsError

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST = 1 << 20
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "example.toml")
"""An agent.toml with all that one needs; it comes with the program."""


def read_trusted(path: str) -> bytes:
    """The content of a file that is root's (or the user's who runs this), and that others cannot write.

    The same must hold for its folder. Owner and mode are asked of the opened file, so that it cannot be
    exchanged in between.
    """
    try:
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _judge(os.fstat(folder), os.path.dirname(path) or ".")
            file = os.open(os.path.basename(path), _FLAGS, dir_fd=folder)
        finally:
            os.close(folder)
    except FileNotFoundError:
        raise SettingsError(f"{path} is not there.", f"{EXAMPLE} is an example to begin with.") from None
    except OSError as error:
        hints = ("Run it as root.",) if isinstance(error, PermissionError) and os.geteuid() else ()
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", *hints) from error
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise SettingsError(f"{path} is not a file.")
        _judge(found, path)
        raw = read(file, _MOST + 1)
    finally:
        os.close(file)
    if len(raw) > _MOST:
        raise SettingsError(f"{path} is larger than {_MOST >> 20} MiB.")
    return raw


def _judge(found: os.stat_result, path: str) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise SettingsError(
            f"{path} belongs to the user {found.st_uid}, and must be root's.", f"chown root {path}"
        )
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise SettingsError(f"{path} can be written by others than its owner.", f"chmod go-w {path}")
