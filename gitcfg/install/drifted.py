"""Drift: managed files that somebody changed by hand."""

from __future__ import annotations

from dataclasses import dataclass

from .accounts import ids
from .disk import take
from .lock import held
from .outcome import Outcome
from .package import File, Package
from .paths import parent_of
from .place import Place
from .problems import Obstacle, Refused
from .record import read_record, read_report
from .recovery import recovered
from .standing import ABSENT, FILE, LINK, Standing, meant
from .store import Store, opened

CHANGED, MISSING, MODE, OWNER, LINKED = "changed", "missing", "mode", "owner", "link"
_MOST = 1 << 20


@dataclass(frozen=True)
class Drift:
    """`kind` is changed, missing, mode, owner or link; `diff` leads from what is meant to what stands."""

    path: str
    kind: str
    diff: str


def drift(place: Place) -> tuple[Drift, ...]:
    """Every file of the package in force that does not stand as meant, in order of path.

    An installation that died is finished or taken back first, since its files are no drift.
    """
    with opened(place) as store, held(store, place):
        recovered(store, place)
        record = read_record(store)
        if record is None or record.package is None:
            return ()
        found = (_judged(store, place, file) for _, file in sorted(record.package.meant.items()))
        return tuple(one for one in found if one is not None)


def installed(place: Place) -> Package | None:
    """The package in force: the last good one."""
    with opened(place) as store:
        record = read_record(store)
        return record.package if record else None


def last_report(place: Place) -> Outcome | None:
    """What the last installation came to, also if nobody was there to hear it."""
    with opened(place) as store:
        return read_report(store)


def _judged(store: Store, place: Place, file: File) -> Drift | None:
    try:
        stands = store.tree.look(file.path)
    except Obstacle as error:
        return Drift(file.path, LINKED, f"{error.message}\n")
    should = meant(file.content, file.bits, _owner(file))
    if stands == should:
        return None
    return Drift(file.path, _kind(stands, should), _told(store, place, file, stands, should))


def _owner(file: File) -> tuple[int, int]:
    try:
        return ids(file.owner, file.group)
    except Refused:
        return (-1, -1)


def _kind(stands: Standing, should: Standing) -> str:
    if stands.kind == ABSENT:
        return MISSING
    if stands.kind == LINK:
        return LINKED
    if stands.digest != should.digest:
        return CHANGED
    return OWNER if (stands.uid, stands.gid) != (should.uid, should.gid) else MODE


def _told(store: Store, place: Place, file: File, stands: Standing, should: Standing) -> str:
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
    """Never of a file that only its owner may read, as it is meant or as it stands."""
    if file.secret or not stands.mode & 0o077:
        return "the content differs (not shown: only its owner may read the file)\n"
    if max(stands.size, len(file.content)) > _MOST:
        return f"the content differs ({len(file.content)} bytes are meant, {stands.size} stand)\n"
    with store.tree.folder(parent_of(file.path)) as at:
        content = take(store.disk, at, file.path.rpartition("/")[2], _MOST)
    try:
        old, new = file.content.decode(), content.decode()
    except UnicodeDecodeError:
        old = new = "\0"
    if "\0" in old + new:
        return f"binary content differs ({len(file.content)} bytes are meant, {len(content)} stand)\n"
    return _unified(file.path, old, new, place.limits.diff)


def _unified(path: str, old: str, new: str, most: int) -> str:
    import difflib

    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"{path} (meant)", f"{path} (stands)", lineterm=""
    )
    said = ""
    for line in lines:
        if len(said) + len(line) >= most:
            return f"{said}... (the rest is not shown)\n"
        said += f"{line}\n"
    return said or "the content differs in line endings only\n"
