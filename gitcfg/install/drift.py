"""Drift: managed files that were changed by hand, with differences. Content is shown only if it is public.

The files of an interrupted installation are not drift: it is finished or rolled back first.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import NamedTuple

from .disk import ABSENT, FILE, LINK, NOBODY, FileState, find_ids, intended_state, read_open_file
from .outcome import Obstacle, Outcome, Refused
from .package import File
from .policy import name_of, parent_of
from .record import read_record
from .store import BACKUP, JOURNAL, STAGED, Place, Store, hold_lock, open_store

_MOST = 1 << 20
_HIDDEN = "the content differs (not shown: the file is not world-readable)\n"


def recover(place: Place) -> Outcome | None:
    """Finish or roll back an interrupted installation; return its outcome, None if there was none."""
    with open_store(place) as store, hold_lock(store, place):
        return _recover(store, place)


def _recover(store: Store, place: Place) -> Outcome | None:
    if not any(map(store.has, (JOURNAL, STAGED, BACKUP))):
        return None
    from .recovery import recover_interrupted  # usually nothing is to be recovered, and the import takes time

    return recover_interrupted(store, place)


def describe_difference(store: Store, place: Place, file: File, stands: FileState, should: FileState) -> str:
    """Describe the difference between the expected and the actual state."""
    if stands.kind == ABSENT:
        return ""
    if stands.kind == LINK:
        return f"a link to {stands.target}\n"
    if stands.kind != FILE:
        return f"a {stands.kind}\n"
    lines = []
    if stands.mode != should.mode:
        lines.append(f"mode {should.mode:04o} -> {stands.mode:04o}\n")
    if (stands.uid, stands.gid) != (should.uid, should.gid):
        lines.append(f"owner {should.uid}:{should.gid} -> {stands.uid}:{stands.gid}\n")
    if stands.digest != should.digest:
        lines.append(_diff(store, place, file, stands))
    return "".join(lines)


def _diff(store: Store, place: Place, file: File, stands: FileState) -> str:
    """Return a diff, but hide the content if the expected or the actual file is not world-readable."""
    if file.secret or not stands.mode & 0o004:
        return _HIDDEN
    if max(stands.size, len(file.content)) > _MOST:
        return f"the content differs (expected {len(file.content)} bytes, found {stands.size})\n"
    content = read_public(store, file.path, _MOST)
    if content is None:
        return _HIDDEN
    try:
        old, new = file.content.decode(), content.decode()
    except UnicodeDecodeError:
        old = new = "\0"
    if "\0" in old + new:
        return f"binary content differs (expected {len(file.content)} bytes, found {len(content)})\n"
    return unified_diff(old, new, (f"{file.path} (expected)", f"{file.path} (on disk)"), place.limits.diff)


def read_public(store: Store, path: str, most: int) -> bytes | None:
    """Return at most `most` bytes of the content; None unless the opened file is public and has one name.

    A file may have been replaced since it was examined. A second name (hard link) of a file elsewhere must
    not carry that file's content into a report.
    """
    with store.tree.folder(parent_of(path)) as at:
        opened = store.disk.open(at, name_of(path))
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or not found.st_mode & 0o004:
            return None
        return read_open_file(opened, most)
    finally:
        os.close(opened)


def unified_diff(old: str, new: str, names: tuple[str, str], most: int) -> str:
    """Return a diff of two different texts with these names, of at most about `most` characters."""
    import difflib

    diff = ""
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), *names, lineterm=""):
        if len(diff) + len(line) >= most:
            return f"{diff}... (the rest is not shown)\n"
        diff += f"{line}\n"
    return diff or "the content differs in line endings only\n"


CHANGED, MISSING, MODE, OWNER, LINKED = "changed", "missing", "mode", "owner", "link"


class Drift(NamedTuple):
    """A difference. `kind` is changed, missing, mode, owner or link; `diff` goes from expected to actual."""

    path: str
    kind: str
    diff: str


def find_drift(place: Place) -> tuple[Drift, ...]:
    """Return every file of the installed package that is not as expected, in order of path.

    An interrupted installation is finished or rolled back first, because its files are not drift.
    """
    with open_store(place) as store, hold_lock(store, place):
        _recover(store, place)
        record = read_record(store)
        if record is None or record.package is None:
            return ()
        found = (_find_drift_of(store, place, file) for _, file in sorted(record.package.meant.items()))
        return tuple(one for one in found if one is not None)


def _find_drift_of(store: Store, place: Place, file: File) -> Drift | None:
    try:
        stands = store.tree.read_state(file.path)
    except Obstacle as error:
        return Drift(file.path, LINKED, f"{error.message}\n")
    owner = NOBODY
    with suppress(Refused):
        owner = find_ids(file.owner, file.group)
    should = intended_state(file, owner)
    if stands == should:
        return None
    return Drift(file.path, _kind(stands, should), describe_difference(store, place, file, stands, should))


def _kind(stands: FileState, should: FileState) -> str:
    if stands.kind == ABSENT:
        return MISSING
    if stands.kind == LINK:
        return LINKED
    if stands.digest != should.digest:
        return CHANGED
    return OWNER if (stands.uid, stands.gid) != (should.uid, should.gid) else MODE
