"""Drift: managed files that somebody changed by hand."""

from __future__ import annotations

from typing import NamedTuple

from .accounts import ids
from .difference import difference
from .interrupted import mended
from .lock import held
from .package import File
from .place import Place
from .problems import Obstacle, Refused
from .record import read_record
from .standing import ABSENT, LINK, Standing, meant
from .store import Store, opened

CHANGED, MISSING, MODE, OWNER, LINKED = "changed", "missing", "mode", "owner", "link"


class Drift(NamedTuple):
    """`kind` is changed, missing, mode, owner or link; `diff` leads from what is meant to what stands."""

    path: str
    kind: str
    diff: str


def drift(place: Place) -> tuple[Drift, ...]:
    """Every file of the package in force that does not stand as meant, in order of path.

    An installation that died is finished or taken back first, since its files are no drift.
    """
    with opened(place) as store, held(store, place):
        mended(store, place)
        record = read_record(store)
        if record is None or record.package is None:
            return ()
        found = (_judged(store, place, file) for _, file in sorted(record.package.meant.items()))
        return tuple(one for one in found if one is not None)


def _judged(store: Store, place: Place, file: File) -> Drift | None:
    try:
        stands = store.tree.look(file.path)
    except Obstacle as error:
        return Drift(file.path, LINKED, f"{error.message}\n")
    should = meant(file, _owner(file))
    if stands == should:
        return None
    return Drift(file.path, _kind(stands, should), difference(store, place, file, stands, should))


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
