"""A new repository on disk: its files, git, and a first commit."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from gitcfg.git.create import commit_all, initialise
from gitcfg.model import GitcfgError

MARKER = "gitcfg.yaml"


class Created(msgspec.Struct, frozen=True):
    """What was made; `commit` is None where git does not know who commits."""

    folder: Path
    files: int
    commit: str | None


def create(folder: Path, files: Mapping[str, str | bytes], message: str) -> Created:
    """Write a repository into a folder that holds none of its files yet.

    GitcfgError (4): something is there already; then nothing is written.
    """
    taken = next((path for path in (MARKER, *files) if (folder / path).exists()), None)
    if taken is not None:
        raise GitcfgError(f"{folder / taken} is there already.", "Choose a new folder.", code=4)
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        if path.startswith("files/") and content[:2] in ("#!", b"#!"):
            place.chmod(0o755)
    return Created(folder, len(files), commit_all(initialise(folder), list(files), message))
