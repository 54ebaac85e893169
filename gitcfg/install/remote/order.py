"""An order as the far end receives it: a package, joined from received parts and the node's own."""

from __future__ import annotations

import binascii
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..disk import read_file
from ..outcome import InstallError, Obstacle, PackageError
from ..package import (
    MAX_BYTES,
    MAX_FILE,
    Actions,
    Hidden,
    Package,
    package_from_json,
    package_to_json,
    parse_actions,
    parse_number,
    parse_text,
    with_hidden_content,
)
from ..policy import find_path_problem, name_of, parent_of
from ..record import read_in_force
from ..store import Place, Store
from .inspection import view_store
from .protocol import (
    CONTENTS,
    ID,
    LACKS,
    ORDER,
    PARTS,
    Content,
    FarLine,
    WireError,
    join_package,
    list_contents,
    short_ids,
    split_package,
    whole_sum,
)

_MOST_PARTS = 64 << 20


class KnownParts(NamedTuple):
    """What the node has: parts by their short ids, and contents by their SHA-256."""

    pieces: Mapping[bytes, bytes]
    contents: Mapping[str, bytes]


def find_known(store: Store, exists: bool) -> KnownParts:
    """Return the parts of the installed package; none if unreadable: an installation renames it first."""
    package = None
    with suppress(InstallError):
        package = read_in_force(store).package if exists else None
    if package is None:
        return KnownParts({}, {})
    parts = split_package(package_to_json(package), {})
    return KnownParts(dict(zip(short_ids(parts.pieces), parts.pieces)), parts.contents)


def receive_pieces(line: FarLine, known: KnownParts, ids: Sequence[bytes]) -> list[bytes]:
    """Receive the parts of an order, except those that are known here."""
    lacking = [number for number, short in enumerate(ids) if short not in known.pieces]
    _ask(line, lacking)
    came = line.receive({PARTS: _MOST_PARTS})[1].split(b"\n") if lacking else []
    if short_ids(came) != tuple(ids[number] for number in lacking):
        raise WireError("The received parts differ from the requested ones.")
    found = dict(zip(lacking, came))
    return [found[number] if number in found else known.pieces[short] for number, short in enumerate(ids)]


def receive_lacking_contents(
    line: FarLine, store: Store, known: KnownParts, pieces: Iterable[bytes], dry: bool
) -> dict[str, bytes]:
    """Return all contents, those on this node without a transfer; in a dry run only those that are shown.

    True contents on this node are read too: before the installation begins, the rollback of an interrupted
    one may remove their files.
    """
    found: dict[str, bytes] = {}
    lacking: dict[int, Content] = {}
    for index, one in enumerate(list_contents(pieces)):
        if one.secret and dry:
            continue
        content = known.contents.get(one.sha256)
        content = _read_existing(store, one) if content is None else content
        if content is None:
            lacking[index] = one
        else:
            found[one.sha256] = content
    size = _total_size(lacking.values())
    _ask(line, list(lacking))
    found.update(_split(lacking.values(), line.receive({CONTENTS: size})[1] if lacking else b""))
    return found


def receive_contents(line: FarLine, pieces: Iterable[bytes]) -> dict[str, bytes]:
    """Receive the contents that come with a small order, without a request."""
    expected = list_contents(pieces)
    return dict(_split(expected, line.receive({CONTENTS: _total_size(expected)})[1]))


def _total_size(expected: Collection[Content]) -> int:
    whole = sum(one.size for one in expected)
    if any(not 0 <= one.size <= MAX_FILE for one in expected) or whole > MAX_BYTES:
        raise PackageError(f"The files are larger than {MAX_BYTES >> 20} MiB.")
    return whole


def _split(expected: Iterable[Content], raw: bytes) -> Iterable[tuple[str, bytes]]:
    start = 0
    for one in expected:
        content = raw[start : start + one.size]
        start += one.size
        if hashlib.sha256(content).hexdigest() != one.sha256:
            raise WireError("The received contents differ from the requested ones.")
        yield one.sha256, content


def _ask(line: FarLine, numbers: list[int]) -> None:
    line.say(LACKS, [json.dumps(numbers, separators=(",", ":")).encode()])


def _read_existing(store: Store, expected: Content) -> bytes | None:
    """Return the content if one of the files that must have it already has it."""
    if expected.size > MAX_FILE:
        return None
    for path in expected.paths:
        if find_path_problem(path):
            continue
        with suppress(OSError, Obstacle):
            if store.tree.read_state(path).digest != expected.sha256:
                continue
            with store.tree.folder(parent_of(path)) as at:
                content = read_file(store.disk, at, name_of(path), expected.size)
            if hashlib.sha256(content).hexdigest() == expected.sha256:
                return content
    return None


_MOST_ORDER, _MOST_WAIT = 4 << 20, 3600.0
_UNREADABLE = (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError)


class Order(NamedTuple):
    """What a node must become."""

    package: Package
    actions: Actions
    dry: bool
    force_agent: bool
    who: str
    wait: float
    base: str
    """The digest of the package that the actions start from; "" if there was none."""


def receive_order(line: FarLine, place: Place) -> Order:
    """Return the whole order. Raise PackageError or WireError if it is not valid; nothing is touched."""
    raw = line.receive({ORDER: _MOST_ORDER})[1]
    try:
        data: dict[str, Any] = json.loads(raw)
        dry = data["dry"] is True
        pieces, contents = _receive(line, place, data, dry)
        package = package_from_json(join_package(data["head"], pieces, contents))
        return Order(
            _with_hidden(package, contents, dry),
            parse_actions(data["actions"]),
            dry,
            data["force_agent"] is True,
            parse_text(data["who"], "who"),
            parse_number(data["wait"], "wait", _MOST_WAIT),
            parse_text(data["base"], "base"),
        )
    except _UNREADABLE as error:
        raise PackageError(f"Cannot read the order: {type(error).__name__}.") from None


def _receive(
    line: FarLine, place: Place, data: Mapping[str, Any], dry: bool
) -> tuple[Iterable[bytes], Mapping[str, bytes]]:
    if "pieces" in data:
        pieces = _check_sum([piece.encode() for piece in data["pieces"]], data)
        return pieces, receive_contents(line, pieces)
    with view_store(place) as (store, exists):
        known = find_known(store, exists)
        pieces = _check_sum(receive_pieces(line, known, _parse_ids(data["ids"])), data)
        return pieces, receive_lacking_contents(line, store, known, pieces, dry)


def _check_sum(pieces: list[bytes], data: Mapping[str, Any]) -> list[bytes]:
    if whole_sum(pieces) != data["sum"]:
        raise PackageError("The parts of the order do not match its checksum.")
    return pieces


def _with_hidden(package: Package, contents: Mapping[str, bytes], dry: bool) -> Package:
    """Return the package with the received true contents. A dry run needs only their sums."""
    files = dict(package.files)
    for path, file in package.files.items():
        if file.hidden is not None and file.hidden.sha256 in contents:
            files[path] = with_hidden_content(file, contents[file.hidden.sha256])
        elif file.hidden is not None and dry:
            files[path] = file._replace(hidden=Hidden(file.hidden.sha256, file.hidden.size, b""))
    return package._replace(files=files)


def _parse_ids(text: str) -> list[bytes]:
    try:
        raw = binascii.a2b_base64(text)
    except binascii.Error:
        raise PackageError("Cannot read the order: its ids are damaged.") from None
    return [raw[start : start + ID] for start in range(0, len(raw), ID)]
