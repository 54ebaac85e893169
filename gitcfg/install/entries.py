"""The files of a plan: what is written, what is removed, and what of it is somebody's work."""

from __future__ import annotations

from collections.abc import Iterable

from .package import File
from .plan import Entry
from .problems import Obstacle, Refused
from .request import Request
from .standing import ABSENT, FILE, FOLDER, LARGEST, LINK, NOTHING, SPECIAL, Standing, meant


def drifted(request: Request) -> tuple[str, ...]:
    """The paths where something else stands than the package in force has, nor what the new one means.

    And secrets that came without a new version: no comparison of two commits tells of them.
    """
    old, new = request.old.meant if request.old else {}, request.new.meant
    return tuple(
        path
        for path in new
        if path in old and path not in request.spared and _drifted(request, old[path], new[path])
    )


def _drifted(request: Request, old: File, new: File) -> bool:
    if request.standing[new.path] not in (_meant(request, old), _meant(request, new)):
        return True
    return old.digest == new.digest and old.sum != new.sum


def _meant(request: Request, file: File) -> Standing:
    return meant(file, request.owners[file.owner, file.group])


def written(request: Request) -> Iterable[Entry]:
    """What does not stand as the new package means it."""
    for path, file in sorted(request.new.meant.items()):
        before, after = request.standing[path], _meant(request, file)
        _refuse(path, before)
        if before != after and path not in request.spared:
            _refuse_unknown(file, before)
            yield Entry(path, before, after, _theirs(request, path, before, after))


def removed(request: Request) -> Iterable[Entry]:
    """What only the package in force has.

    What stands where nothing of ours can (a folder, a device) is somebody's and stays.
    """
    if request.old is None:
        return
    for path in sorted(set(request.old.meant) - set(request.new.meant)):
        before = request.standing[path]
        if before.kind in (FILE, LINK):
            _refuse(path, before)
            yield Entry(path, before, NOTHING, _theirs(request, path, before, NOTHING))


def _refuse(path: str, before: Standing) -> None:
    if before.kind in (FOLDER, SPECIAL):
        what = "A folder" if before.kind == FOLDER else "A device, pipe or socket"
        raise Obstacle(f"{what} stands at {path}, where a file is meant.", "Move it away.")
    if before.kind == FILE and before.size > LARGEST:
        raise Obstacle(
            f"A file of {before.size >> 20} MiB stands at {path}, too large to keep.", "Move it away."
        )


def _refuse_unknown(file: File, before: Standing) -> None:
    if file.true is None and before.digest != file.sum:
        raise Refused(
            f"{file.path} holds secrets, and its content was not handed along.",
            "A server hands it to the node itself, over TLS.",
        )


def _theirs(request: Request, path: str, before: Standing, after: Standing) -> bool:
    """Whether what stands is neither the package in force nor what will stand, and would be lost."""
    if before.kind == ABSENT or before.digest == after.digest:
        return False
    file = request.old.meant.get(path) if request.old else None
    return file is None or before.digest != _meant(request, file).digest
