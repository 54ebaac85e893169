"""What of an order this node does not have: asked for, and taken only as it was asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..contents import take
from ..parts import MAX_FILE
from ..paths import name_of, parent_of, problem_of_path
from ..problems import InstallError, Obstacle, PackageError
from ..reading import MAX_BYTES
from ..store import Store
from ..writing import package_to_json
from .line import FarLine
from .parts import Wanted, contents_of, ids_of, taken_apart
from .view import record_of
from .wire import CONTENTS, LACKS, PARTS, WireError

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
    for number, one in enumerate(contents_of(pieces)):
        if one.secret and dry:
            continue
        content = known.contents.get(one.sha256)
        content = _standing(store, one) if content is None else content
        if content is None:
            lacking[number] = one
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
