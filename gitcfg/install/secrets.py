"""Contents of files with secrets, which the record does not have: from memory, or as they stand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress

from .disk import FILE, LARGEST, read_file, read_state
from .errors import Obstacle, StepFailed
from .package import File, Package
from .paths import name_of, parent_of
from .plan import Plan
from .redaction import NONE, Redaction, make_redaction
from .store import BACKUP, Store


def find_content(store: Store, file: File) -> bytes | None:
    """Return the content that a file must have; of an unknown secret one what stands, if anything."""
    return file.true_content if file.true_content is not None else _read_standing(store, file.path)


def find_verified_content(store: Store, file: File) -> bytes:
    """Return the content; raise StepFailed if what stands, which was right before, has changed."""
    content = find_content(store, file)
    if content is None or (file.true_content is None and hashlib.sha256(content).hexdigest() != file.sha256):
        raise StepFailed("write files", f"{file.path} was changed by somebody else in this moment.")
    return content


def find_unknown(store: Store, package: Package) -> frozenset[str]:
    """Return the files whose content is secret, unknown here, and not what stands."""
    files = (file for file in package.meant.values() if file.true_content is None)
    return frozenset(file.path for file in files if store.tree.read_state(file.path).digest != file.sha256)


def collect_redaction(
    store: Store, packages: Iterable[Package | None], plan: Plan | None = None
) -> Redaction:
    """Return the redaction of all that secret files of some packages hold, here or in memory."""
    files = [file for package in packages if package for file in package.meant.values() if file.hidden]
    return make_redaction(_pairs(store, files, plan)) if files else NONE


def _pairs(store: Store, files: Iterable[File], plan: Plan | None) -> Iterator[tuple[bytes, bytes]]:
    numbers = {entry.path: number for number, entry in enumerate(plan.entries)} if plan else {}
    for file in files:
        found = [file.true_content, _read_standing(store, file.path)]
        if file.path in numbers:
            found.append(_read_backup(store, numbers[file.path]))
        yield from ((file.content, content) for content in found if content is not None)


def _read_standing(store: Store, path: str) -> bytes | None:
    with suppress(OSError, Obstacle), store.tree.folder(parent_of(path)) as at:
        return _read_content(store, at, name_of(path))
    return None


def _read_backup(store: Store, number: int) -> bytes | None:
    with suppress(OSError), store.folder(BACKUP) as backup:
        return _read_content(store, backup, str(number))
    return None


def _read_content(store: Store, at: int, name: str) -> bytes | None:
    stands = read_state(store.disk, at, name)
    return read_file(store.disk, at, name, LARGEST) if stands.kind == FILE and stands.digest else None
