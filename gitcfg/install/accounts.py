"""Owners and groups by name on this node."""

from __future__ import annotations

import grp
import pwd

from .problems import Refused

_MOST = (1 << 32) - 2


def ids(owner: str, group: str) -> tuple[int, int]:
    """The numbers of a user and a group; digits are numbers themselves. Refused if there is none."""
    return _user(owner), _group(group)


def _user(name: str) -> int:
    if name == "root":
        return 0
    if _number(name):
        return int(name)
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        raise Refused(f"There is no user {name!r} on this node.") from None


def _group(name: str) -> int:
    if name == "root":
        return 0
    if _number(name):
        return int(name)
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise Refused(f"There is no group {name!r} on this node.") from None


def _number(name: str) -> bool:
    return name.isascii() and name.isdigit() and int(name) <= _MOST
