"""A folder that holds rendered nodes: written file by file, each replaced whole."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from gitcfg.model import GitcfgError
from gitcfg.render.files import RenderedFile


class OutputFolder:
    """DIR/NODE/PATH for every file of every node. Files that already are right stay untouched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, node: str, files: Mapping[str, RenderedFile]) -> None:
        """Write a node's files. GitcfgError: a symbolic link lies in the way."""
        home = self.folder / node
        home.mkdir(parents=True, exist_ok=True)
        for path, file in files.items():
            place = home.joinpath(*path.strip("/").split("/"))
            _refuse_links(self.folder, place)
            place.parent.mkdir(parents=True, exist_ok=True)
            replace(place, file.content.encode(), int(file.mode, 8))


def _refuse_links(top: Path, place: Path) -> None:
    """Nothing is written through a link that leads who knows where."""
    for parent in (place, *place.parents):
        if parent == top:
            return
        if parent.is_symlink():
            raise GitcfgError(f"{parent} is a symbolic link; nothing is written through it.", "Remove it.")


def replace(place: Path, content: bytes, mode: int) -> None:
    """Put a file in place whole: whoever reads it sees the old or the new one."""
    if place.is_file() and place.read_bytes() == content:
        place.chmod(mode)
        return
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=".gitcfg-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(name, mode)
        os.replace(name, place)
    finally:
        Path(name).unlink(missing_ok=True)  # still there only if something went wrong
