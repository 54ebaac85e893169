"""What a report tells of a file that was changed by hand; never the content of one that is not public."""

from __future__ import annotations

import os
import stat

from .contents import read
from .package import File
from .paths import name_of, parent_of
from .place import Place
from .standing import ABSENT, FILE, LINK, Standing
from .store import Store

_MOST = 1 << 20
_HIDDEN = "the content differs (not shown: not everybody may read the file)\n"


def difference(store: Store, place: Place, file: File, stands: Standing, should: Standing) -> str:
    """From what is meant to what stands."""
    if stands.kind == ABSENT:
        return ""
    if stands.kind == LINK:
        return f"a link to {stands.target}\n"
    if stands.kind != FILE:
        return f"a {stands.kind} stands there\n"
    lines = []
    if stands.mode != should.mode:
        lines.append(f"mode {should.mode:04o} -> {stands.mode:04o}\n")
    if (stands.uid, stands.gid) != (should.uid, should.gid):
        lines.append(f"owner {should.uid}:{should.gid} -> {stands.uid}:{stands.gid}\n")
    if stands.digest != should.digest:
        lines.append(_diff(store, place, file, stands))
    return "".join(lines)


def _diff(store: Store, place: Place, file: File, stands: Standing) -> str:
    """Never of a file that not everybody may read, as it is meant or as it stands."""
    if file.secret or not stands.mode & 0o004:
        return _HIDDEN
    if max(stands.size, len(file.content)) > _MOST:
        return f"the content differs ({len(file.content)} bytes are meant, {stands.size} stand)\n"
    content = read_public(store, file.path, _MOST)
    if content is None:
        return _HIDDEN
    try:
        old, new = file.content.decode(), content.decode()
    except UnicodeDecodeError:
        old = new = "\0"
    if "\0" in old + new:
        return f"binary content differs ({len(file.content)} bytes are meant, {len(content)} stand)\n"
    return unified(old, new, (f"{file.path} (meant)", f"{file.path} (stands)"), place.limits.diff)


def read_public(store: Store, path: str, most: int) -> bytes | None:
    """At most `most` bytes of the content, if what is opened now is public and has no other name: somebody's
    second name of a file elsewhere, put there since it was looked at, must not carry that into a report."""
    with store.tree.folder(parent_of(path)) as at:
        opened = store.disk.open(at, name_of(path))
    try:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or not found.st_mode & 0o004:
            return None
        return read(opened, most)
    finally:
        os.close(opened)


def unified(old: str, new: str, names: tuple[str, str], most: int) -> str:
    """A diff of two different texts with these names, of at most about `most` characters."""
    import difflib

    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), *names, lineterm="")
    said = ""
    for line in lines:
        if len(said) + len(line) >= most:
            return f"{said}... (the rest is not shown)\n"
        said += f"{line}\n"
    return said or "the content differs in line endings only\n"
