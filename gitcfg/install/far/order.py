"""An order as the far end takes it: a package that is put together of what travels and what stands here."""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..concealed import Hidden
from ..fields import number, text
from ..package import Actions, Package, hidden
from ..place import Place
from ..problems import PackageError
from ..reading import package_from_json, read_actions
from .lacking import all_contents, known_of, lacking_contents, lacking_pieces
from .line import FarLine
from .parts import ID, sum_of
from .together import put_together
from .view import viewed
from .wire import ORDER

_MOST_ORDER, _MOST_WAIT = 4 << 20, 3600.0
_UNREADABLE = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError)


class Asked(NamedTuple):
    """What a node is asked to become."""

    package: Package
    actions: Actions
    dry: bool
    force_agent: bool
    who: str
    wait: float
    base: str
    """The digest of what was in force when the actions were thought out; "" if nothing was."""


def take_order(line: FarLine, place: Place) -> Asked:
    """The order, whole. PackageError or WireError for one that is not; nothing was touched then."""
    raw = line.receive({ORDER: _MOST_ORDER})[1]
    try:
        said: dict[str, Any] = json.loads(raw)
        dry = said["dry"] is True
        pieces, contents = _received(line, place, said, dry)
        package = package_from_json(put_together(said["head"], pieces, contents))
        return Asked(
            _with_hidden(package, contents, dry),
            read_actions(said["actions"]),
            dry,
            said["force_agent"] is True,
            text(said["who"], "who"),
            number(said["wait"], "wait", _MOST_WAIT),
            text(said["base"], "base"),
        )
    except _UNREADABLE as error:
        raise PackageError(f"The order cannot be read: {type(error).__name__}.") from None


def _received(
    line: FarLine, place: Place, said: Mapping[str, Any], dry: bool
) -> tuple[Iterable[bytes], Mapping[str, bytes]]:
    if "pieces" in said:
        pieces = _meant([piece.encode() for piece in said["pieces"]], said)
        return pieces, all_contents(line, pieces)
    with viewed(place) as (store, there):
        known = known_of(store, there)
        pieces = _meant(lacking_pieces(line, known, _ids(said["ids"])), said)
        return pieces, lacking_contents(line, store, known, pieces, dry)


def _meant(pieces: list[bytes], said: Mapping[str, Any]) -> list[bytes]:
    if sum_of(pieces) != said["sum"]:
        raise PackageError("The parts of the order are not those that were meant.")
    return pieces


def _with_hidden(package: Package, contents: Mapping[str, bytes], dry: bool) -> Package:
    """With the true contents that came. A dry run, which writes nothing, goes by their sums alone."""
    files = dict(package.files)
    for path, file in package.files.items():
        if file.hidden is not None and file.hidden.sha256 in contents:
            files[path] = hidden(file, contents[file.hidden.sha256])
        elif file.hidden is not None and dry:
            files[path] = file._replace(hidden=Hidden(file.hidden.sha256, file.hidden.size, b""))
    return package._replace(files=files)


def _ids(said: str) -> list[bytes]:
    try:
        raw = binascii.a2b_base64(said)
    except binascii.Error:
        raise PackageError("The order cannot be read: its ids are damaged.") from None
    return [raw[start : start + ID] for start in range(0, len(raw), ID)]
