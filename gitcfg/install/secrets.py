"""Contents of files that hold secrets, which the record does not have: from memory, or as they stand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress

from .disk import FILE, LARGEST, look, take
from .errors import Obstacle, StepFailed
from .package import File, Package
from .paths import name_of, parent_of
from .plan import Plan
from .redaction import NONE, Hiding, hiding
from .store import BACKUP, Store


def content_of(store: Store, file: File) -> bytes | None:
    """The content that a file must have; of a secret one that is not known here, what stands, if anything."""
    return file.true if file.true is not None else _standing(store, file.path)


def kept_content(store: Store, file: File) -> bytes:
    """The same where what stands was found to be right, and only its mode or owner not."""
    content = content_of(store, file)
    if content is None or (file.true is None and hashlib.sha256(content).hexdigest() != file.sum):
        raise StepFailed("write files", f"{file.path} was changed by somebody else in this moment.")
    return content


def unknown(store: Store, package: Package) -> frozenset[str]:
    """The files whose content is secret, not known here, and not what stands."""
    files = (file for file in package.meant.values() if file.true is None)
    return frozenset(file.path for file in files if store.tree.look(file.path).digest != file.sum)


def hiding_of(store: Store, packages: Iterable[Package | None], plan: Plan | None = None) -> Hiding:
    """What no command's output may tell: all that secret files of some packages hold, here or in memory."""
    files = [file for package in packages if package for file in package.meant.values() if file.hidden]
    return hiding(_pairs(store, files, plan)) if files else NONE


def _pairs(store: Store, files: Iterable[File], plan: Plan | None) -> Iterator[tuple[bytes, bytes]]:
    numbers = {entry.path: number for number, entry in enumerate(plan.entries)} if plan else {}
    for file in files:
        found = [file.true, _standing(store, file.path)]
        if file.path in numbers:
            found.append(_backed_up(store, numbers[file.path]))
        yield from ((file.content, content) for content in found if content is not None)


def _standing(store: Store, path: str) -> bytes | None:
    with suppress(OSError, Obstacle), store.tree.folder(parent_of(path)) as at:
        return _taken(store, at, name_of(path))
    return None


def _backed_up(store: Store, number: int) -> bytes | None:
    with suppress(OSError), store.folder(BACKUP) as backup:
        return _taken(store, backup, str(number))
    return None


def _taken(store: Store, at: int, name: str) -> bytes | None:
    stands = look(store.disk, at, name)
    return take(store.disk, at, name, LARGEST) if stands.kind == FILE and stands.digest else None
