"""What of an order this node does not have: asked for, and taken only as it was asked for."""

from __future__ import annotations

import binascii
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..disk import take
from ..errors import InstallError, Obstacle, PackageError
from ..fields import number, text
from ..package import (
    MAX_BYTES,
    MAX_FILE,
    Actions,
    Hidden,
    Package,
    hidden,
    package_from_json,
    package_to_json,
    read_actions,
)
from ..paths import name_of, parent_of, problem_of_path
from ..place import Place
from ..store import Store
from .inspection import record_of, viewed
from .parts import ID, Wanted, contents_of, ids_of, put_together, sum_of, taken_apart
from .protocol import CONTENTS, LACKS, ORDER, PARTS, FarLine, WireError

_MOST_PARTS = 64 << 20


class Known(NamedTuple):
    """What the record has: parts by their short ids, and contents by their SHA-256."""

    pieces: Mapping[bytes, bytes]
    contents: Mapping[str, bytes]


def known_of(store: Store, there: bool) -> Known:
    """What is in force; nothing where it cannot be read: it is set aside before anything is installed."""
    try:
        package = record_of(store, there).package
    except InstallError:
        package = None
    if package is None:
        return Known({}, {})
    parts = taken_apart(package_to_json(package), {})
    return Known(dict(zip(ids_of(parts.pieces), parts.pieces)), parts.contents)


def lacking_pieces(line: FarLine, known: Known, ids: Sequence[bytes]) -> list[bytes]:
    """All parts of an order, those that are not known from the line."""
    lacking = [number for number, short in enumerate(ids) if short not in known.pieces]
    _ask(line, lacking)
    came = line.receive({PARTS: _MOST_PARTS})[1].split(b"\n") if lacking else []
    if ids_of(came) != tuple(ids[number] for number in lacking):
        raise WireError("Parts came that are not those that were asked for.")
    found = dict(zip(lacking, came))
    return [found[number] if number in found else known.pieces[short] for number, short in enumerate(ids)]


def lacking_contents(
    line: FarLine, store: Store, known: Known, pieces: Iterable[bytes], dry: bool
) -> dict[str, bytes]:
    """All contents, those that stand here from here; in a dry run only those that are shown.

    Also a true one that stands is taken along: before the installation begins, an earlier one that died may
    be taken back, and the file with it.
    """
    found: dict[str, bytes] = {}
    lacking: dict[int, Wanted] = {}
    for index, one in enumerate(contents_of(pieces)):
        if one.secret and dry:
            continue
        content = known.contents.get(one.sha256)
        content = _standing(store, one) if content is None else content
        if content is None:
            lacking[index] = one
        else:
            found[one.sha256] = content
    found.update(_asked_for(line, lacking))
    return found


def all_contents(line: FarLine, pieces: Iterable[bytes]) -> dict[str, bytes]:
    """Those that come with a small order, unasked."""
    wanted = contents_of(pieces)
    return dict(_apart(wanted, line.receive({CONTENTS: _whole(wanted)})[1]))


def _asked_for(line: FarLine, lacking: Mapping[int, Wanted]) -> Iterable[tuple[str, bytes]]:
    whole = _whole(lacking.values())
    _ask(line, list(lacking))
    return _apart(lacking.values(), line.receive({CONTENTS: whole})[1] if lacking else b"")


def _whole(wanted: Collection[Wanted]) -> int:
    whole = sum(one.size for one in wanted)
    if any(not 0 <= one.size <= MAX_FILE for one in wanted) or whole > MAX_BYTES:
        raise PackageError(f"The files are larger than {MAX_BYTES >> 20} MiB.")
    return whole


def _apart(wanted: Iterable[Wanted], raw: bytes) -> Iterable[tuple[str, bytes]]:
    start = 0
    for one in wanted:
        content = raw[start : start + one.size]
        start += one.size
        if hashlib.sha256(content).hexdigest() != one.sha256:
            raise WireError("Contents came that are not those that were asked for.")
        yield one.sha256, content


def _ask(line: FarLine, numbers: list[int]) -> None:
    line.say(LACKS, [json.dumps(numbers, separators=(",", ":")).encode()])


def _standing(store: Store, wanted: Wanted) -> bytes | None:
    """The content, where one of the files that are to have it has it already."""
    for path in wanted.paths:
        if wanted.size <= MAX_FILE and _stands(store, path, wanted):
            with suppress(OSError, Obstacle), store.tree.folder(parent_of(path)) as at:
                content = take(store.disk, at, name_of(path), wanted.size)
                if hashlib.sha256(content).hexdigest() == wanted.sha256:
                    return content
    return None


def _stands(store: Store, path: str, wanted: Wanted) -> bool:
    if problem_of_path(path):
        return False
    with suppress(OSError, Obstacle):
        return store.tree.look(path).digest == wanted.sha256
    return False


# An order as the far end takes it: a package that is put together of what travels and what stands here.

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
