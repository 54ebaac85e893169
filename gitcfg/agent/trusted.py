"""Reading a file that decides what may happen on this node: only if nobody else could have written it."""

from __future__ import annotations

import os
import stat

from .problems import SettingsError

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST = 1 << 20


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
        raise SettingsError(f"{path} is not there.", "docs/agent.md says what goes into it.") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    with open(file, "rb") as opened:
        found = os.fstat(opened.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise SettingsError(f"{path} is not a file.")
        _judge(found, path)
        raw = opened.read(_MOST + 1)
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
