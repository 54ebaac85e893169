"""Owners and groups by name on this node."""

from __future__ import annotations

import grp
import os
import pwd
from contextlib import suppress

from .errors import Refused
from .package import Package

Owners = dict[tuple[str, str], tuple[int, int]]
NOBODY = (-1, -1)

_MOST = (1 << 32) - 2


def find_ids(owner: str, group: str) -> tuple[int, int]:
    """Return the numbers of a user and a group; digits are numbers themselves. Refused if there is none."""
    return _user(owner), _group(group)


def find_owners(new: Package, old: Package | None) -> Owners:
    """Return the numbers of all owners and groups. Those of the package in force alone may be gone by now."""
    found: Owners = {}
    for file in old.meant.values() if old else ():
        found[file.owner, file.group] = NOBODY
        with suppress(Refused):
            found[file.owner, file.group] = find_ids(file.owner, file.group)
    for pair in {(file.owner, file.group) for file in new.meant.values()}:
        found[pair] = find_ids(*pair)
    return found


def find_foreign_file(package: Package) -> str:
    """Return a file whose owner or group only root could set; "" if there is none."""
    groups = {os.getegid(), *os.getgroups()}
    for path, file in sorted(package.meant.items()):
        with suppress(Refused):  # of who does not exist the installation tells
            user, group = find_ids(file.owner, file.group)
            if user != os.geteuid() or group not in groups:
                return path
    return ""


def _user(name: str) -> int:
    if name == "root":
        return 0
    if _is_number(name):
        return int(name)
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        raise Refused(f"There is no user {name!r} on this node.") from None


def _group(name: str) -> int:
    if name == "root":
        return 0
    if _is_number(name):
        return int(name)
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise Refused(f"There is no group {name!r} on this node.") from None


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and int(name) <= _MOST
