"""New files in a repository's work tree, each whole or not there; none that is there is written over."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path


def add(folder: Path, files: Mapping[str, str]) -> None:
    """Write files that are not there yet. OSError: one is, or the disk is full; those before it stay."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        _put(place, text.encode())


def _put(place: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    with ExitStack() as undone:
        undone.callback(os.unlink, name)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(descriptor, 0o644)
            os.fsync(descriptor)
        os.link(name, place)
